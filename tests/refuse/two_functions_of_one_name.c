void f(int A[8]) {
#pragma scop
  A[0] = 1;
#pragma endscop
}
void f(int B[8]) { //~ ERROR E0210 a second function is called `f`
#pragma scop
  B[0] = 1;
#pragma endscop
}
