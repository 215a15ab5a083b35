// K-means: assignment of the points, then update of the means.
#include <stdint.h>
#define P 40
#define K 4
#define D 3
void kmeans(const int16_t pt[P][D], int32_t cen[K][D], int32_t label[P]) {
  int32_t best[P]; int32_t cnt[K]; int32_t sum[K][D];
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int p = 0; p < P; p++) {
      best[p] = 2147483647;
      label[p] = 0;
      for (int k = 0; k < K; k++) {
        int32_t dist = 0;
        for (int d = 0; d < D; d++) {
          int32_t e = pt[p][d] - cen[k][d];
          dist += e * e;
        }
        if (dist < best[p]) { best[p] = dist; label[p] = k; }
      }
    }
    for (int k = 0; k < K; k++) {
      cnt[k] = 0;
      for (int d = 0; d < D; d++) sum[k][d] = 0;
      for (int p = 0; p < P; p++) {
        if (label[p] == k) {
          cnt[k] += 1;
          for (int d = 0; d < D; d++) sum[k][d] += pt[p][d];
        }
      }
      for (int d = 0; d < D; d++)
        cen[k][d] = cnt[k] > 0 ? sum[k][d] / cnt[k] : cen[k][d];
    }
  }
#pragma endscop
}
