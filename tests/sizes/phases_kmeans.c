// sagen: --size n=10,k=3,t=2 --size n=1,k=1,t=1 --size n=7,k=4,t=3
// k-means of sizes: points, clusters, rounds.
#include <stdint.h>
#pragma sagen max(n=10, k=4, t=3)
void kmeans(int n, int k, int t, const int32_t x[n][2], int32_t c[k][2], int32_t label[n]) {
  int32_t best, sum[4][2], count[4];
#pragma scop
  for (int r = 0; r < t; r++) {
    for (int i = 0; i < n; i++) {
      best = 2000000000;
      label[i] = 0;
      for (int j = 0; j < k; j++) {
        if ((x[i][0] - c[j][0]) * (x[i][0] - c[j][0]) + (x[i][1] - c[j][1]) * (x[i][1] - c[j][1]) < best) label[i] = j;
        best = (x[i][0] - c[j][0]) * (x[i][0] - c[j][0]) + (x[i][1] - c[j][1]) * (x[i][1] - c[j][1]) < best ? (x[i][0] - c[j][0]) * (x[i][0] - c[j][0]) + (x[i][1] - c[j][1]) * (x[i][1] - c[j][1]) : best;
      }
    }
    for (int j = 0; j < k; j++) {
      count[j] = 1;
      for (int i = 0; i < n; i++) count[j] += label[i] == j ? 1 : 0;
      for (int d = 0; d < 2; d++) {
        sum[j][d] = 0;
        for (int i = 0; i < n; i++) sum[j][d] += label[i] == j ? x[i][d] : 0;
        c[j][d] = sum[j][d] >> (count[j] > 2 ? 2 : 1);
      }
    }
  }
#pragma endscop
}
