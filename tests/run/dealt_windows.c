// Windows whose columns are dealt out to the PEs: neighbours read cells that overlap, and buffers keep what lies between.
// sagen: --space o,c --tile o=4,c=24 --latency o=2,c=3 --cyclic c --word in=8,w=4,out=8
// sagen: --space o,c --tile o=4,c=24 --latency o=2,c=3 --cyclic c --word in=16,w=4,out=4
// sagen: --space c --tile c=16,o=2 --latency c=2 --cyclic c --simd i=4
// sagen: --space c,o --tile o=4,c=24 --latency c=6 --cyclic c --word in=4,w=4,out=4
// sagen: --space r,c --tile r=4,c=8 --latency r=2,c=2 --cyclic c --word out=4
#include <stdint.h>
#define O 6
#define I 4
#define R 5
#define C 29

void dealt_windows(const int16_t in[I][R + 2][C + 2], const int16_t w[O][I][3][3], int32_t out[O][R][C]) {
#pragma scop
    for (int o = 0; o < O; o++)
        for (int r = 0; r < R; r++)
            for (int c = 0; c < C; c++) {
                out[o][r][c] = o;
                for (int i = 0; i < I; i++)
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 3; q++)
                            out[o][r][c] += in[i][r + p][c + q] * w[o][i][p][q];
            }
#pragma endscop
}
