void f(int A[8]) {
#pragma scop
  A[0] = 1;
#pragma endscop
}
void g(int A[8]) {
#pragma scop //~ ERROR E0204 only one region per file
  A[0] = 1;
#pragma endscop
}
