// The nearest center of every point, then the mean of every center's points.
void k_means(float x[8][2], float c[3][2], float d[8][3], int near[8], float best[8], float count[3], float sum[3][2]) {
#pragma scop
  for (int t = 0; t < 2; t++) {
    for (int i = 0; i < 8; i++)
      for (int k = 0; k < 3; k++) {
        d[i][k] = 0.0f;
        for (int e = 0; e < 2; e++)
          d[i][k] += (x[i][e] - c[k][e]) * (x[i][e] - c[k][e]);
      }
    for (int i = 0; i < 8; i++) {
      near[i] = 0;
      best[i] = d[i][0];
      for (int k = 1; k < 3; k++) {
        near[i] = d[i][k] < best[i] ? k : near[i];
        best[i] = d[i][k] < best[i] ? d[i][k] : best[i];
      }
    }
    for (int k = 0; k < 3; k++) {
      count[k] = 1.0f;
      for (int i = 0; i < 8; i++)
        count[k] += near[i] == k ? 1.0f : 0.0f;
      for (int e = 0; e < 2; e++) {
        sum[k][e] = 0.0f;
        for (int i = 0; i < 8; i++)
          sum[k][e] += near[i] == k ? x[i][e] : 0.0f;
        c[k][e] = sum[k][e] / count[k];
      }
    }
  }
#pragma endscop
}
