// A path of least cost through a grid from above, by dynamic programming, then the least cost at the bottom.
// sagen:
#include <stdint.h>
#define H 6
#define W 7
void path(const uint8_t c[H][W], int d[H][W], int least[W]) {
#pragma scop
  for (int i = 0; i < H; i++)
    for (int j = 0; j < W; j++) {
      if (i == 0)
        d[i][j] = c[i][j];
      else {
        int up = d[i - 1][j];
        if (j > 0)
          up = d[i - 1][j - 1] < up ? d[i - 1][j - 1] : up;
        if (j < W - 1)
          up = d[i - 1][j + 1] < up ? d[i - 1][j + 1] : up;
        d[i][j] = up + c[i][j];
      }
    }
  for (int j = 0; j < W; j++)
    least[j] = j == 0 ? d[H - 1][j] : least[j - 1] < d[H - 1][j] ? least[j - 1] : d[H - 1][j];
#pragma endscop
}
