// Subscripts, conditions and bounds in variables, some of them declared before the region.
// sagen: --size h=1,w=1,f=1 --size h=5,w=9,f=2 --size h=9,w=4,f=3 --size h=9,w=9,f=3
#include <stdint.h>
#pragma sagen max(h=9, w=9, f=3)
void padded(int h, int w, int f, const int8_t x[h][w], const int8_t k[f][3][3], int32_t y[f][h][w])
{
    int last = h - 1;
#pragma scop
    for (int o = 0; o < f; o++)
        for (int i = 0; i < h; i++)
            for (int j = 0; j < w; j++) {
                int32_t s = 0;
                for (int p = 0; p < 3; p++)
                    for (int q = 0; q < 3; q++) {
                        int yy = i + p - 1, xx = j + q - 1;
                        if (yy >= 0 && yy <= last && xx >= 0 && xx < w)
                            s += x[yy][xx] * k[o][p][q];
                    }
                y[o][i][j] = s;
            }
#pragma endscop
}
