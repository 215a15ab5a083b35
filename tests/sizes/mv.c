// sagen: --size m=1,n=1 --size m=13,n=29 --size m=40,n=48 --size m=7,n=1
#include <stdint.h>
#pragma sagen max(m=40, n=48)
void mv(int m, int n, const int16_t A[m][n], const int16_t x[n], int32_t y[m])
{
#pragma scop
    for (int i = 0; i < m; i++) {
        y[i] = 0;
        for (int j = 0; j < n; j++)
            y[i] += A[i][j] * x[j];
    }
#pragma endscop
}
