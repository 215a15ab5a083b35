// sagen: --size h=1,w=1,c=1 --size h=5,w=7,c=3 --size h=12,w=12,c=4 --size h=12,w=1,c=2
#include <stdint.h>
#define R 3
#pragma sagen max(h=12, w=12, c=4)
void conv(int h, int w, int c, const int8_t x[c][h + R - 1][w + R - 1], const int8_t k[4][c][R][R], int32_t y[4][h][w])
{
#pragma scop
    for (int o = 0; o < 4; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                y[o][i][j] = 0;
                for (int d = 0; d < c; d++)
                    for (int p = 0; p < R; p++)
                        for (int q = 0; q < R; q++)
                            y[o][i][j] += x[d][i + p][j + q] * k[o][d][p][q];
            }
#pragma endscop
}
