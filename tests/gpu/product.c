// Products: floats, 32-bit integers that wrap around; sums that continue from what is there; a transposed operand; batches;
// shortest ways.
// sagen: --function product
// sagen: --function product --space j,i --time k
// sagen: --function product --space j,i --time k -D M=128 -D N=256 -D K=64
// sagen: --function product --space j,i --time k -D M=70 -D N=1030 -D K=39 -D T=int16_t
// sagen: --function product --space j,i --time k -D M=70 -D N=130 -D K=41 -D T=int64_t
// sagen: --function product --space j,i --time k --tile i=4,j=96 -D T=unsigned
// sagen: --function product --space i,j --time k --tile j=5
// sagen: --function product --space j,i --time k -D T=double -D M=33 -D N=65
// sagen: --function product --space j,i --time k --fp-contract
// sagen: --function transposed
// sagen: --function transposed --space j,i --time k -D M=72 -D N=300 -D K=40
// sagen: --function shortest --space j,i --time k,b
// sagen: --function batched --space j,i --time k,b -D M=150 -D N=300 -D K=40
#include <stdint.h>
#ifndef T
#define T float
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
void product(const T A[M][K], const T B[K][N], T C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
void transposed(const T A[M][K], const T B[N][K], T C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[j][k];
    }
#pragma endscop
}
void batched(const T A[3][M][K], const T B[3][K][N], T C[3][M][N]) {
#pragma scop
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        C[b][i][j] = 0;
        for (int k = 0; k < K; k++)
          C[b][i][j] += A[b][i][k] * B[b][k][j];
      }
#pragma endscop
}
void shortest(const int16_t A[3][72][K], const int16_t B[3][K][300], int16_t C[3][72][300]) {
#pragma scop
  for (int b = 0; b < 3; b++)
    for (int i = 0; i < 72; i++)
      for (int j = 0; j < 300; j++)
        for (int k = 0; k < K; k++) {
          int16_t way = A[b][i][k] + B[b][k][j];
          C[b][i][j] = C[b][i][j] < way ? C[b][i][j] : way;
        }
#pragma endscop
}
