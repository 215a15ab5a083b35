// The second nest has fewer loops than the first and readers on both sides of its producer.
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void kernel(const int u[5], int x[5][5], int y[5], const int w[6], int z[5][6]) {
#pragma scop
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++) {
      int s = 1;
      for (int k = 1; k <= 3; ++k)
        if ((u[i] - u[j]) * (u[i] - u[j]) < s)
          s = (u[i] - u[j]) * (u[i] - u[j]);
      x[i][j] = s;
    }
  for (int i = 0; i < 4; i++)
    for (int j = 1; j <= 3; ++j) {
      y[i] = MIN((x[j - 1][i] - 8), (u[1] + w[j]));
      z[i][j] = y[j - 1] + j;
    }
#pragma endscop
}
