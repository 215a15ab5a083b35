// TTMc in floating point: fp32, and fp16 inputs with fp32 sums.
#ifndef IN
#define IN float
#endif
// sagen:
// sagen: --space i,j --latency i=1
// sagen: -D IN=_Float16
void ttmc(IN A[4][3][5], IN B[3][4], IN C[5][2], float D[4][4][2]) {
#pragma scop
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 2; k++) {
        D[i][j][k] = 0;
        for (int l = 0; l < 3; l++)
          for (int m = 0; m < 5; m++)
            D[i][j][k] += (float)A[i][l][m] * (float)B[l][j] * (float)C[m][k];
      }
#pragma endscop
}
