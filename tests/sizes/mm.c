// sagen: --size m=17,n=1,k=96 --size m=23,n=37,k=13 --space i,j --tile i=8,j=8 --latency i=2,j=2 --cuts i=1,2,3
// sagen: --size m=1,n=1,k=1 --size m=17,n=1,k=96 --size m=64,n=64,k=96 --size m=23,n=37,k=13
#include <stdint.h>
#pragma sagen max(m=64, n=64, k=96)
void mm(int m, int n, int k, const int16_t A[m][k], const int16_t B[k][n], int32_t C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int p = 0; p < k; p++)
                C[i][j] += A[i][p] * B[p][j];
        }
#pragma endscop
}
