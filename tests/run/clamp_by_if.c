// An index that `if` corrects, and one that two branches set.
// sagen:
#define H 6
#define W 8
void clamp_by_if(unsigned char in[H][W], unsigned char out[H][W]) {
#pragma scop
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x++) {
      int s = 0;
      for (int d = -2; d <= 2; d++) {
        int at = x + d, row;
        if (at < 0) at = 0;
        if (at >= W) at = W - 1;
        if (y == 0)
          row = 1;
        else
          row = y - 1;
        s += in[row][at];
      }
      out[y][x] = s / 5;
    }
#pragma endscop
}
