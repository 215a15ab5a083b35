// Side effects inside expressions.
void f(int A[8], int B[8]) {
  int i, n = 0;
#pragma scop
  for (i = 0; i < 8; i++) {
    A[i] = B[i]++; //~ ERROR E0405 make it a statement of its own
    A[i] = B[i] + (B[i] = 0); //~ ERROR E0405 side effect inside an expression
    A[i] = A[i] ? 1 : (B[i] = 0); //~ ERROR E0405 side effect inside an expression
    if (n + (n = A[i])) //~ ERROR E0405 the result would depend on the order of effects
      B[i] = 1;
    A[i] + 1; //~ ERROR E0405 nothing is assigned
    A[(n = n + 1)] = 1; //~ ERROR E0405 side effect
  }
#pragma endscop
}
