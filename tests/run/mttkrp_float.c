// MTTKRP in floating point: fp32, and fp16 inputs with fp32 sums.
#ifndef IN
#define IN float
#endif
// sagen:
// sagen: --space i,j --latency i=1
// sagen: -D IN=_Float16
void mttkrp(IN A[5][4][3], IN B[4][6], IN C[3][6], float D[5][6]) {
#pragma scop
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 6; j++) {
      D[i][j] = 0;
      for (int k = 0; k < 4; k++)
        for (int l = 0; l < 3; l++)
          D[i][j] += (float)A[i][k][l] * (float)B[k][j] * (float)C[l][j];
    }
#pragma endscop
}
