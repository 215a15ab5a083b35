// Two functions with arrays of their own, each cut into two bands, and with one array, cut into two, three and four.
// sagen: --space i --latency i=1 --cuts i=2 --seed 3 --sequence 40
// sagen: --space i --latency i=1 --cuts i=4 --memory ddr --seed 4 --sequence 20
// sagen: --merge --space i --latency i=1 --cuts i=3 --sequence 20
// sagen: --merge --space i --latency i=1 --cuts i=1,5 --memory ddr --sequence 20
// sagen: --merge --space i --latency i=1 --cuts i=2,3,4 --sequence 20
// sagen: --merge --queue 4 --overlap --sequence 20
#include <stdint.h>

void product(const int16_t A[6][5], const int16_t B[5][4], int32_t C[6][4]) {
#pragma scop
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 4; j++) {
      C[i][j] = 0;
      for (int k = 0; k < 5; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}

void weigh(int32_t scale, const int32_t w[9], const int32_t x[5][9], int32_t y[5]) {
#pragma scop
  for (int i = 0; i < 5; i++) {
    y[i] = scale;
    for (int k = 0; k < 9; k++)
      y[i] += w[k] * x[i][k];
  }
#pragma endscop
}
