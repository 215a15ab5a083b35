// sagen: --size n=1 --size n=7 --size n=24 --size n=17
#include <stdint.h>
#pragma sagen max(n=24)
void triangle(int n, const int16_t L[n][n], const int16_t B[n][n], int32_t C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k <= i; k++)
                C[i][j] += L[i][k] * B[k][j];
        }
#pragma endscop
}
