// One size for several loops and extents, some of which end with the same number: on every array.
// sagen: --row 0 --size n=1 --size n=6 --size n=5
// sagen: --row 1 --size n=6 --size n=5 --size n=1
// sagen: --row 2 --size n=5 --size n=1 --size n=6
// sagen: --space i,j --tile i=2,j=3,k=3 --size n=1 --size n=6 --size n=5
// sagen: --space j --size n=2 --size n=6
#include <stdint.h>
#pragma sagen max(n=6)
void square(int n, const int16_t A[n][n], const int16_t B[n][n], int32_t C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k < n; k++)
                C[i][j] += A[i][k] * B[k][j];
        }
#pragma endscop
}
