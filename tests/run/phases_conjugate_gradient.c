// Conjugate gradient for a fixed number of steps.
// sagen:
// sagen: --on-chip 0
#define N 12
#define T 4
void cg(const float A[N][N], const float b[N], float x[N]) {
  float r[N], p[N], q[N];
  float rr, pq, alpha, beta, rn;
#pragma scop
  rr = 0.0f;
  for (int i = 0; i < N; i++) { x[i] = 0.0f; r[i] = b[i]; p[i] = b[i]; rr += b[i] * b[i]; }
  for (int t = 0; t < T; t++) {
    pq = 0.0f;
    for (int i = 0; i < N; i++) {
      q[i] = 0.0f;
      for (int j = 0; j < N; j++) q[i] += A[i][j] * p[j];
      pq += p[i] * q[i];
    }
    alpha = rr / pq;
    rn = 0.0f;
    for (int i = 0; i < N; i++) {
      x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
      rn += r[i] * r[i];
    }
    beta = rn / rr;
    rr = rn;
    for (int i = 0; i < N; i++) p[i] = r[i] + beta * p[i];
  }
#pragma endscop
}
