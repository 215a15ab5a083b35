void f(int A[8]) {
#pragma scop
  A[0] = 1;
#pragma endscop
#pragma scop //~ ERROR E0204 only one region per function
  A[0] = 1;
#pragma endscop
}
