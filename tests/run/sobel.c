// Sobel: two gradients, their magnitude, a threshold, and a count of the edges of each row.
// sagen:
#include <stdint.h>
#define H 8
#define W 10
void sobel(const uint8_t in[H][W], uint8_t edge[H][W], int count[H], int limit) {
#pragma scop
  for (int i = 0; i < H; i++) {
    count[i] = 0;
    for (int j = 0; j < W; j++)
      if (i == 0 || i == H - 1 || j == 0 || j == W - 1) {
        edge[i][j] = 0;
      } else {
        int gx = in[i - 1][j + 1] + 2 * in[i][j + 1] + in[i + 1][j + 1] - in[i - 1][j - 1] - 2 * in[i][j - 1] - in[i + 1][j - 1];
        int gy = in[i + 1][j - 1] + 2 * in[i + 1][j] + in[i + 1][j + 1] - in[i - 1][j - 1] - 2 * in[i - 1][j] - in[i - 1][j + 1];
        if (gx < 0) gx = -gx;
        if (gy < 0) gy = -gy;
        edge[i][j] = gx + gy > limit ? 255 : 0;
        count[i] += gx + gy > limit;
      }
  }
#pragma endscop
}
