// Six-loop convolution, stride 2 and padding by an affine if; bias and ReLU behind it.
#include <stdint.h>
#define O 3
#define I 2
#define R 5
#define C 4
#define P 3
#define S 2
#define MAX(a, b) ((a) > (b) ? (a) : (b))
typedef int16_t data_t;
void cnn(data_t x[I][R * S][C * S], data_t w[O][I][P][P], data_t bias[O], int32_t y[O][R][C]) {
#pragma sa
  for (int o = 0; o < O; o++)
    for (int r = 0; r < R; r++)
      for (int c = 0; c < C; c++) {
        y[o][r][c] = bias[o];
        for (int i = 0; i < I; i++)
          for (int p = 0; p < P; p++)
            for (int q = 0; q < P; q++)
              if (r * S + p - 1 >= 0 && r * S + p - 1 < R * S && c * S + q - 1 >= 0 && c * S + q - 1 < C * S)
                y[o][r][c] += w[o][i][p][q] * x[i][r * S + p - 1][c * S + q - 1];
        y[o][r][c] = MAX(y[o][r][c], 0) >> 4;
      }
#pragma endsa
}
