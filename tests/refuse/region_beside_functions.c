int A[8];
void f(int B[8]) {
#pragma scop
  B[0] = 1;
#pragma endscop
}
#pragma scop //~ ERROR E0204 several regions must be in different functions
A[0] = 1;
#pragma endscop
