// y = Aᵀ(Ax): the product along a row is needed along the same row.
#ifndef M
#define M 6
#endif
#ifndef N
#define N 7
#endif
// sagen:
// sagen: -D M=1
// sagen: -D N=1
// sagen: -D M=13 -D N=2
// sagen: -D M=13 -D N=5 --distribute
// sagen: --row 1
// sagen: --row 2
void atax(int A[M][N], int x[N], int y[N]) {
  int tmp[M];
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = 0;
  for (int i = 0; i < M; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++)
      tmp[i] = tmp[i] + A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] = y[j] + A[i][j] * tmp[i];
  }
#pragma endscop
}
