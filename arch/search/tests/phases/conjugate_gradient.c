// Three steps of the method of conjugate gradients.
void cg(float A[6][6], float b[6], float x[6], float r[6], float p[6], float q[6], float rr[4], float pq[3]) {
#pragma scop
  for (int i = 0; i < 6; i++) {
    x[i] = 0.0f;
    r[i] = b[i];
    p[i] = b[i];
  }
  rr[0] = 0.0f;
  for (int i = 0; i < 6; i++)
    rr[0] += r[i] * r[i];
  for (int t = 0; t < 3; t++) {
    for (int i = 0; i < 6; i++) {
      q[i] = 0.0f;
      for (int j = 0; j < 6; j++)
        q[i] += A[i][j] * p[j];
    }
    pq[t] = 0.0f;
    for (int i = 0; i < 6; i++)
      pq[t] += p[i] * q[i];
    for (int i = 0; i < 6; i++) {
      x[i] += rr[t] / pq[t] * p[i];
      r[i] -= rr[t] / pq[t] * q[i];
    }
    rr[t + 1] = 0.0f;
    for (int i = 0; i < 6; i++)
      rr[t + 1] += r[i] * r[i];
    for (int i = 0; i < 6; i++)
      p[i] = r[i] + rr[t + 1] / rr[t] * p[i];
  }
#pragma endscop
}
