// sagen: --size m=5,n=7,k=1 --size m=12,n=12,k=30 --size m=3,n=4,k=5 --size m=1,n=1,k=29 --space i,j --simd q=4 --tile i=6,j=6,q=16
#include <stdint.h>
#pragma sagen max(m=12, n=12, k=30)
void mm(int m, int n, int k, const int16_t A[m][k], const int16_t B[k][n], int32_t C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int q = 0; q < k; q++)
                C[i][j] += A[i][q] * B[q][j];
        }
#pragma endscop
}
