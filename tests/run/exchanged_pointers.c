// Two pointers change places in each time step.
void jacobi(float A[64], float B[64]) {
  float *p = A, *q = B;
#pragma scop
  for (int t = 0; t < 10; t++) {
    for (int i = 1; i < 63; i++)
      q[i] = 0.33f * (p[i-1] + p[i] + p[i+1]);
    float *s = p; p = q; q = s;
  }
#pragma endscop
}
