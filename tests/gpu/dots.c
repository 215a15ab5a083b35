// Sums of products of 8-bit integers: four products are one operation, the lanes of a SIMD digit. Loops that four does not
// divide, both signs, sums of 16, 32 and 64 bits, sums of bytes alone, operands in rows and in columns, windows, sizes at run time.
// sagen: --function product
// sagen: --function product --space j,i --time k
// sagen: --function product --space j,i --time k --simd k=4
// sagen: --function product --space j,i --time k --simd k=4 -D M=128 -D N=256 -D K=64
// sagen: --function product --space j,i --time k --simd k=4 -D M=128 -D N=256 -D K=68
// sagen: --function product --space j,i --time k --simd k=4 -D M=70 -D N=1030 -D K=39 -D T=uint8_t -D SUM=uint32_t
// sagen: --function product --space j,i --time k --simd k=4 -D M=33 -D N=131 -D K=41 -D SUM=int16_t
// sagen: --function product --space j,i --time k --simd k=4 -D M=33 -D N=131 -D K=43 -D SUM=int64_t --sanitize address
// sagen: --function product --space j,i --time k --simd k=4 -D M=33 -D N=131 -D K=24
// sagen: --function product --space j,i --time k --simd k=4 --tile i=4,j=96 -D T=uint8_t
// sagen: --function product --space j,i --time k --simd k=4 --tile i=4,j=128 -D M=64 -D N=128 -D K=68
// sagen: --function product --space j,i --time k --simd k=4 --tile i=4,j=128 -D M=64 -D N=256 -D K=64 --sanitize address
// sagen: --function product --space j,i --time k --simd k=4 --tile i=8,j=128 -D M=250 -D N=256 -D K=79
// sagen: --function product --space i,j --time k --simd k=4
// sagen: --function product --space i --time j,k --simd k=4
// sagen: --function product --simd k=4 -D M=5 -D N=3 -D K=202
// sagen: --function transposed
// sagen: --function transposed --space j,i --time k --simd k=4
// sagen: --function transposed --space j,i --time k --simd k=4 -D M=72 -D N=300 -D K=64
// sagen: --function transposed --space i,j --time k --simd k=4 -D K=63 -D T=uint8_t
// sagen: --function channels --space c,o --time r,p,q,i --simd i=4
// sagen: --function channels --space c,o --time r,p,q,i --simd i=4 -D I=6
// sagen: --function channels --space o --time r,c,p,q,i --simd i=4 --sanitize address
// sagen: --function channels
// sagen: --function window --space c --time r,p,q --simd q=4
// sagen: --function window --space c,p --time r+p,q --simd q=4
// sagen: --function window --space c,p --time r+p,q --simd q=4 -D Q=6 -D T=uint8_t
// sagen: --function window
// sagen: --function vector --space i --time k --simd k=4
// sagen: --function vector --space i --time k --simd k=4 -D K=203
// sagen: --function counts --space i --time k --simd k=4
// sagen: --function mixed --space j,i --time k
// sagen: --function scaled --space j,i --time k --simd k=4
// sagen: --function sized --space j,i --time k0 --simd k0=4
// sagen: --function sized --space j,i --time k0 --simd k0=4 --size m=40,n=70,k=64 --size m=33,n=1,k=3 --size m=2,n=80,k=61
// sagen: --function sized
#include <stdint.h>
#ifndef T
#define T int8_t
#endif
#ifndef SUM
#define SUM int32_t
#endif
#ifndef M
#define M 43
#endif
#ifndef N
#define N 70
#endif
#ifndef K
#define K 50
#endif
#ifndef I
#define I 8
#endif
#ifndef Q
#define Q 5
#endif
enum { O = 3, H = 7, W = 45, P = 3 };
void product(const T A[M][K], const T B[K][N], SUM C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
void transposed(const T A[M][K], const T B[N][K], SUM C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] -= A[i][k] * B[j][k];
    }
#pragma endscop
}
void channels(const T x[H + P - 1][W + Q - 1][I], const T w[O][P][Q][I], SUM y[O][H][W]) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int r = 0; r < H; r++)
      for (int c = 0; c < W; c++) {
        y[o][r][c] = 0;
        for (int p = 0; p < P; p++)
          for (int q = 0; q < Q; q++)
            for (int i = 0; i < I; i++)
              y[o][r][c] += x[r + p][c + q][i] * w[o][p][q][i];
      }
#pragma endscop
}
void window(const T x[40 + P - 1][300 + Q - 1], const T w[P][Q], SUM y[40][300]) {
#pragma scop
  for (int r = 0; r < 40; r++)
    for (int c = 0; c < 300; c++) {
      y[r][c] = 0;
      for (int p = 0; p < P; p++)
        for (int q = 0; q < Q; q++)
          y[r][c] += x[r + p][c + q] * w[p][q];
    }
#pragma endscop
}
void vector(const T A[300][K], const T x[K], SUM y[300]) {
#pragma scop
  for (int i = 0; i < 300; i++) {
    y[i] = 7;
    for (int k = 0; k < K; k++)
      y[i] += A[i][k] * x[k];
  }
#pragma endscop
}
void counts(const uint8_t A[300][K], uint32_t y[300]) {
#pragma scop
  for (int i = 0; i < 300; i++) {
    y[i] = 0;
    for (int k = 0; k < K; k++)
      y[i] += A[i][k];
  }
#pragma endscop
}
void mixed(const int8_t A[M][K], const uint8_t B[K][N], int32_t C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
void scaled(const T A[M][K], const T B[K][N], const int32_t bias[N], T C[M][N]) {
  int32_t sum[M][N];
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      sum[i][j] = bias[j];
      for (int k = 0; k < K; k++)
        sum[i][j] += A[i][k] * B[k][j];
      C[i][j] = sum[i][j] > 0 ? sum[i][j] >> 8 : 0;
    }
#pragma endscop
}
#pragma sagen max(m=64, n=96, k=80)
void sized(int m, int n, int k, const int8_t A[m][k], const int8_t B[k][n], int32_t C[m][n]) {
#pragma scop
  for (int i = 0; i < m; i++)
    for (int j = 0; j < n; j++) {
      C[i][j] = 0;
      for (int k0 = 0; k0 < k; k0++)
        C[i][j] += A[i][k0] * B[k0][j];
    }
#pragma endscop
}
