// sagen: --size m=1,n=1,k=1 --size m=5,n=11,k=7 --size m=16,n=12,k=20
#include <stdint.h>
#pragma sagen max(m=16, n=12, k=20)
void gemm(int m, int n, int k, float alpha, const float A[m][k], const float B[k][n], float C[m][n])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int p = 0; p < k; p++)
                C[i][j] += alpha * A[i][p] * B[p][j];
#pragma endscop
}
