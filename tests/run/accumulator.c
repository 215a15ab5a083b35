// The accumulator is a scalar: its sum is as free in order as one in an array, here over PEs and tiles.
// sagen: --space i,q --simd q=2 --tile i=4,q=8,j=8
#include <stdint.h>
void mm(const int16_t A[12][24], const int16_t B[24][12], int32_t C[12][12])
{
    int32_t acc;
#pragma scop
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++) {
            acc = 0;
            for (int q = 0; q < 24; q++)
                acc += A[i][q] * B[q][j];
            C[i][j] = acc;
        }
#pragma endscop
}
