// Matrix product with alpha and beta passed by value.
// sagen:
// sagen: --space i,j --tile i=4,j=3
// sagen: --space i --latency i=1
void gemm(int rows, float alpha, float beta, float C[7][5], float A[7][6], float B[6][5]) {
#pragma scop
  for (int i = 0; i < 7; i++) {
    for (int j = 0; j < 5; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 6; k++)
      for (int j = 0; j < 5; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}
