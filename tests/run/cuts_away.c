// Arrays that are cut, with memories on other dies: one, two and three borders above the engines, and below them; ports that
// read, that write, and that do both; rows of many beats.
// sagen: --space i --latency i=1 --cuts i=3
// sagen: --space i --latency i=1 --cuts i=3 --bank A=DDR[1],B=DDR[2],C=DDR[3] --word C=16
// sagen: --space i --latency i=1 --cuts i=1,2 --bank A=DDR[3],B=DDR[3],C=DDR[1] --word A=2,B=32,C=16
// sagen: --space i --latency i=1 --cuts i=2,4 --bank A=DDR[0],B=DDR[0],C=DDR[0]
// sagen: --space j --tile j=8 --latency j=1 --cuts j=2,4,6 --bank A=DDR[3],B=DDR[0],C=DDR[2]
// sagen: --space i --latency i=1 --cuts i=3 --ports shared --bank C=DDR[3]
// sagen: --space i --latency i=1 --cuts i=3 --ports A+C,B --bank A=DDR[2],B=DDR[3] --memory ddr
// sagen: --space i --latency i=1 --cuts i=3 --bank A=DDR[1],B=DDR[2],C=DDR[3] --memory ddr --seed 5
// sagen: --space i --latency i=1 --cuts i=3 --board vu9p --bank A=DDR[0],B=DDR[2],C=DDR[3] --word C=16
// sagen: --space i --latency i=1 --cuts i=3 --board vu9p --bank A=DDR[3],B=DDR[3],C=DDR[0] --memory ddr
// sagen: --space i --latency i=1 --cuts i=2,3 --board u280 --bank A=HBM[7],B=DDR[1],C=DDR[0]
// sagen: --space i --latency i=1 --cuts i=3 --bank C=DDR[3] --guard
#include <stdint.h>
#define I 6
#define J 160
#define K 2

void update(const int16_t A[I][K], const int16_t B[K][J], int32_t C[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
