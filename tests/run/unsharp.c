// Unsharp mask: blur in two passes, difference, gain, clamp.
// sagen:
#include <stdint.h>
#define H 8
#define W 9
void unsharp(const uint8_t in[H][W], uint8_t out[H][W], int16_t row[H][W], int16_t blur[H][W]) {
#pragma scop
  for (int i = 0; i < H; i++)
    for (int j = 1; j < W - 1; j++)
      row[i][j] = in[i][j - 1] + 2 * in[i][j] + in[i][j + 1];
  for (int i = 1; i < H - 1; i++)
    for (int j = 1; j < W - 1; j++)
      blur[i][j] = (row[i - 1][j] + 2 * row[i][j] + row[i + 1][j] + 8) >> 4;
  for (int i = 1; i < H - 1; i++)
    for (int j = 1; j < W - 1; j++) {
      int v = in[i][j] + 2 * (in[i][j] - blur[i][j]);
      if (v < 0) v = 0;
      if (v > 255) v = 255;
      out[i][j] = v;
    }
#pragma endscop
}
