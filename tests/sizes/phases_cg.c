// sagen: --size n=1,steps=1 --size n=7,steps=3 --size n=12,steps=5 --size n=5,steps=1
// Conjugate gradient: its iterations and its order are sizes; scalars and vectors that pass between phases.
#pragma sagen max(n=12, steps=5)
void cg(int n, int steps, const float A[n][n], const float b[n], float x[n]) {
  float r[12], p[12], q[12];
  float rho, alpha, beta, rho1;
#pragma scop
  for (int i = 0; i < n; i++) { x[i] = 0; r[i] = b[i]; p[i] = b[i]; }
  for (int t = 0; t < steps; t++) {
    rho = 1.0f;
    for (int i = 0; i < n; i++) rho += r[i] * r[i];
    for (int i = 0; i < n; i++) { q[i] = 0; for (int j = 0; j < n; j++) q[i] += A[i][j] * p[j]; }
    alpha = 1.0f;
    for (int i = 0; i < n; i++) alpha += p[i] * q[i];
    for (int i = 0; i < n; i++) x[i] += (rho / alpha) * p[i];
    for (int i = 0; i < n; i++) r[i] -= (rho / alpha) * q[i];
    rho1 = 1.0f;
    for (int i = 0; i < n; i++) rho1 += r[i] * r[i];
    for (int i = 0; i < n; i++) p[i] = r[i] + (rho1 / rho) * p[i];
  }
#pragma endscop
}
