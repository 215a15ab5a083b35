// Each step of the recursion needs all coefficients of the one before, in reverse: phases, between which a local scalar
// passes by a scratch buffer.
void kernel(const float r[6], float y[6], float z[6]) {
  float alpha;
#pragma scop
  alpha = -r[0];
  y[0] = -r[0];
  for (int k = 1; k < 6; k++) {
    for (int i = 0; i < k; i++)
      z[i] = y[i] + alpha * y[k - i - 1];
    for (int i = 0; i < k; i++)
      y[i] = z[i];
    alpha = r[k] * alpha;
    y[k] = alpha;
  }
#pragma endscop
}
