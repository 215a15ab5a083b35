// Lanes that store neighbouring cells while other cells of the row follow in time, behind a sum over PEs: words as wide as the lanes.
// sagen: --space i,k --simd j=4
// sagen: --space i,k --tile j=8,k=7 --simd j=4
// sagen: --space k --simd j=2
#include <stdint.h>

void lanes_side_by_side(int8_t A[6][14], int8_t B[14][16], int32_t C[6][16]) {
#pragma scop
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 16; j++) {
            C[i][j] = 0;
            for (int k = 0; k < 14; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
