// The maximum of the outer summed loop lies below those of the inner ones.
// sagen: --size outs=1,channels=1,rows=1,cols=1,kernel=1 --size outs=4,channels=2,rows=6,cols=6,kernel=3 --size outs=3,channels=1,rows=2,cols=5,kernel=2
#include <stdint.h>
#pragma sagen max(outs=4, channels=2, rows=6, cols=6, kernel=3)
void conv(int outs, int channels, int rows, int cols, int kernel, const uint8_t x[channels][rows + kernel][cols + kernel],
          const uint8_t w[outs][channels][kernel][kernel], int y[outs][rows][cols]) {
#pragma scop
  for (int o = 0; o < outs; o++)
    for (int r = 0; r < rows; r++)
      for (int c = 0; c < cols; c++) {
        int s = 0;
        for (int i = 0; i < channels; i++)
          for (int p = 0; p < kernel; p++)
            for (int q = 0; q < kernel; q++)
              s += x[i][r + p][c + q] * w[o][i][p][q];
        y[o][r][c] = s;
      }
#pragma endscop
}
