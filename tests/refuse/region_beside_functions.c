int A[8];
void f(int B[8]) {
#pragma scop
  B[0] = 1;
#pragma endscop
}
#pragma scop //~ ERROR E0204 each of several regions stands in a function of its own
A[0] = 1;
#pragma endscop
