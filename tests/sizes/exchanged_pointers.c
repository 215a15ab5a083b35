// sagen: --size steps=1 --size steps=2 --size steps=9
// How often the pointers change places is known at run time only.
#pragma sagen max(steps=9)
void jac(int steps, int A[32], int B[32]) {
  int *p = A, *q = B, *s;
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < 31; i++)
      q[i] = p[i-1] + p[i] + p[i+1];
    s = p; p = q; q = s;
  }
#pragma endscop
}
