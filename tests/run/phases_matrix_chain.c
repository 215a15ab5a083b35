// The cheapest order of products, by their number.
void chain(int p[9], int m[8][8]) {
  int cost;
#pragma scop
  for (int i = 0; i < 8; i++)
    m[i][i] = 0;
  for (int l = 1; l < 8; l++)
    for (int i = 0; i < 8 - l; i++) {
      cost = m[i][i] + m[i + 1][i + l] + p[i] * p[i + 1] * p[i + l + 1];
      for (int k = 1; k < l; k++)
        cost = cost <= m[i][i + k] + m[i + k + 1][i + l] + p[i] * p[i + k + 1] * p[i + l + 1] ? cost : m[i][i + k] + m[i + k + 1][i + l] + p[i] * p[i + k + 1] * p[i + l + 1];
      m[i][i + l] = cost;
    }
#pragma endscop
}
