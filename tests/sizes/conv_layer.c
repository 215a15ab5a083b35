// The sum runs over three loops that follow sizes: lanes and PEs share it, and what comes behind it.
// sagen: --size co=1,ci=1,h=1,w=1,r=1 --size co=6,ci=5,h=6,w=7,r=3 --size co=5,ci=3,h=4,w=1,r=2 --size co=2,ci=5,h=6,w=7,r=1 --space o,c --simd q=2
#include <stdint.h>
#pragma sagen max(co=6, ci=5, h=6, w=7, r=3)
void conv(int co, int ci, int h, int w, int r, const int8_t x[h + r - 1][w + r - 1][ci], const int8_t k[co][r][r][ci], const int32_t bias[co], int8_t y[h][w][co])
{
    int32_t acc;
#pragma scop
    for (int o = 0; o < co; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                acc = bias[o];
                for (int p = 0; p < r; p++)
                    for (int q = 0; q < r; q++)
                        for (int c = 0; c < ci; c++)
                            acc += x[i + p][j + q][c] * k[o][p][q][c];
                acc = acc >> 4;
                y[i][j][o] = acc < 0 ? 0 : acc > 127 ? 127 : acc;
            }
#pragma endscop
}
