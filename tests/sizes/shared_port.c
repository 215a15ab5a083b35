// Groups of one port that walk rows of different lengths, of which some follow sizes and some do not.
// sagen: --size N0=4,N1=3,N2=2 --size N0=1,N1=1,N2=1 --size N0=2,N1=3,N2=1 --ports x1,u2,x0
// sagen: --size N0=3,N1=1,N2=2 --size N0=4,N1=3,N2=2 --ports x1,u2,x0 --guard
#include <stdint.h>
#pragma sagen max(N0=4, N1=3, N2=2)
void kernel(int N0, unsigned N1, unsigned N2, int16_t x0[N0 + 4][N1 + 4][N1 + 4], int64_t x1[N0 + 4][N1 + 4][N1 + 4], const int32_t u2[N0][N1][N1]) {
#pragma scop
  for (int i = 0; i < N0; i++)
    for (int j = i; j < N1; j++)
      for (int k = 0; k <= j; k++) {
        if (j + i < 1)
          x0[i + 2][j + 2][k + 2] = (u2[i][j][k] > x1[i + 2][j + 2][k + 2] ? u2[i][j][k] : x1[i + 2][j + 2][k + 2]) | x0[i + 1][j + 2][k + 1];
        x1[i + 2][j + 2][k + 2] = x0[i + 3][j + 1][k + 2];
      }
#pragma endscop
}
