// C = A·B for all m, n and k up to 256, on one IP whose sizes come at run time:
//   sagen sim examples/gemm_sizes.c --size m=17,n=1,k=100 --size m=64,n=64,k=64 --space i,j --tile i=16,j=16 --latency i=4,j=4
//   sagen predict out/gemm m=17 n=1 k=100        # behind sagen rtl examples/gemm_sizes.c -o out/gemm
// sagen: --size m=17,n=1,k=100 --size m=33,n=20,k=20 --space i,j --tile i=16,j=16 --latency i=4,j=4
#include <stdint.h>

#pragma sagen max(m=256, n=256, k=256)
void gemm(int m, int n, int k, const int16_t A[m][k], const int16_t B[k][n], int32_t C[m][n])
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
