// sagen: --size N0=1,N2=1 --size N0=1,N2=3 --size N0=3,N2=2
// At N0 = 1 nothing is stored to x0: its writer is done at once.
#include <stdint.h>
#pragma sagen max(N0=5, N2=4)
void kernel(int N0, int N2, int64_t x0[N0 + 4][7][N2 + 4], int16_t x1[N0 + 4][7], int16_t x2[N0 + 4][7][N2 + 4], const int32_t u3[N0 + 1][N2 + 1]) {
#pragma scop
for (int i = 0; i < N0; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < N2; k++) {
if (i > 0) x0[i + 2][j + 2][k + 2] = x1[i + 2][j + 1];
x1[i + 2][j + 2] = x1[i + 2][j + 2] + ((x1[i + 0][j + 1] * u3[i + 1][k + 1]) + (j + x2[i + 2][j + 2][k + 0]));
x2[i + 2][j + 2][k + 2] = ((x1[i + 1][j + 2] + x0[i + 1][j + 0][k + 3]) >> 0);
}
#pragma endscop
}
