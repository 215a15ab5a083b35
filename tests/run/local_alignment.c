// Local alignment with affine gaps: three tables, borders, and the best score of each row.
// sagen:
#include <stdint.h>
#define N 6
#define M 7
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void align(const int8_t a[N], const int8_t b[M], int h[N + 1][M + 1], int e[N + 1][M + 1], int f[N + 1][M + 1], int best[N + 1]) {
#pragma scop
  for (int i = 0; i <= N; i++) {
    best[i] = 0;
    for (int j = 0; j <= M; j++) {
      if (i == 0 || j == 0) {
        h[i][j] = 0;
        e[i][j] = -1000;
        f[i][j] = -1000;
      } else {
        e[i][j] = MAX(e[i][j - 1] - 1, h[i][j - 1] - 3);
        f[i][j] = MAX(f[i - 1][j] - 1, h[i - 1][j] - 3);
        int diagonal = h[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 4 : -2);
        h[i][j] = MAX(MAX(0, diagonal), MAX(e[i][j], f[i][j]));
        best[i] = MAX(best[i], h[i][j]);
      }
    }
  }
#pragma endscop
}
