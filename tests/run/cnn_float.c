// CNN layer in floating point: fp32, and fp16 inputs with fp32 sums.
#ifndef IN
#define IN float
#endif
// sagen:
// sagen: --space o,r --latency o=1
// sagen: --space o,r --latency o=1 --cuts r=1,2,3
// sagen: -D IN=_Float16
// sagen: -D IN=_Float16 --space o,c --tile o=2,c=3
void cnn(IN in[3][6][7], IN w[4][3][3][3], float out[4][4][5]) {
#pragma scop
  for (int o = 0; o < 4; o++)
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 5; c++) {
        out[o][r][c] = 0;
        for (int i = 0; i < 3; i++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              out[o][r][c] += (float)in[i][r + p][c + q] * (float)w[o][i][p][q];
      }
#pragma endscop
}
