// A triangular product in place (PolyBench's trmm): values are carried over `i`, whose end follows from a size, so the search
// tries no strips that would hand them on.
// sagen: --size M=20,N=30 --size M=10,N=15 --size M=2,N=2 --objective cycles --memory ideal
#pragma sagen max(M=20, N=30)
void kernel_trmm(int M, int N, float alpha, const float A[M][M], float B[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      for (int k = i + 1; k < M; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}
