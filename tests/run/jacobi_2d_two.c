// Jacobi in two dimensions as in PolyBench: two arrays that take turns, two nests in every time step.
#ifndef N
#define N 6
#endif
#define T 3
// sagen:
// sagen: --space i --latency i=1
// sagen: -D N=3
// sagen: -D N=5 --space j --latency j=1
void jacobi(int A[N][N], int B[N][N]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        B[i][j] = (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]) / 5;
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]) / 5;
  }
#pragma endscop
}
