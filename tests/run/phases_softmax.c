// Softmax of a vector: the maximum, polynomials of the differences, their sum, the quotients.
#define N 8
void softmax2(const float x[N], float y[N]) {
  float m, s;
#pragma scop
  m = x[0];
  for (int j = 1; j < N; j++)
    m = x[j] > m ? x[j] : m;
  s = 0.0f;
  for (int j = 0; j < N; j++) {
    y[j] = 1.0f + (x[j] - m) * (1.0f + (x[j] - m) * 0.5f);
    s += y[j];
  }
  for (int j = 0; j < N; j++)
    y[j] = y[j] / s;
#pragma endscop
}
