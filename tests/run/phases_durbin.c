// Levinson-Durbin: each order of the filter needs all coefficients of the one before, in reverse.
void durbin(float r[8], float y[8], float z[8], float alpha[1], float beta[1], float sum[1]) {
#pragma scop
  y[0] = -r[0];
  beta[0] = 1.0f;
  alpha[0] = -r[0];
  for (int k = 1; k < 8; k++) {
    beta[0] = (1.0f - alpha[0] * alpha[0]) * beta[0];
    sum[0] = 0.0f;
    for (int i = 0; i < k; i++)
      sum[0] += r[k - i - 1] * y[i];
    alpha[0] = -(r[k] + sum[0]) / beta[0];
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha[0] * y[k - i - 1];
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    y[k] = alpha[0];
  }
#pragma endscop
}
