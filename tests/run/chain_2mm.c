// Two matrix products in a chain: the second consumes what the first has computed, inside one array.
#ifndef N
#define N 5
#endif
#define M 6
#define K 7
#define L 4
// sagen:
// sagen: -D N=1
// sagen: -D N=13 --space i
// sagen: -D N=13 --space i --latency i=1
void mm2(int A[N][K], int B[K][M], int C[M][L], int D[N][L]) {
  int tmp[N][M];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < K; k++)
        tmp[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < L; j++) {
      D[i][j] = 3;
      for (int k = 0; k < M; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
#pragma endscop
}
