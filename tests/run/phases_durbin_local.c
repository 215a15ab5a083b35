// Levinson-Durbin as PolyBench writes it: scalars and a vector of the function's own pass between the phases by scratch buffers.
#define N 8
void durbin(float r[N], float y[N]) {
  float z[N];
  float alpha, beta, sum;
#pragma scop
  y[0] = -r[0];
  beta = 1.0f;
  alpha = -r[0];
  for (int k = 1; k < N; k++) {
    beta = (1.0f - alpha * alpha) * beta;
    sum = 0.0f;
    for (int i = 0; i < k; i++)
      sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha;
  }
#pragma endscop
}
