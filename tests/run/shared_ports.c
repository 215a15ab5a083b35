// Arrays of three element sizes and different numbers of dimensions behind one AXI port.
// sagen: --space i,j --latency i=1 --ports shared --address-bits 32
// sagen: --space i,j --tile i=4,j=3,k=5 --ports shared
// sagen: --space i,j --tile i=4,j=3,k=5 --ports A+B+bias+C --guard
// sagen: --space i,j --tile i=4,j=3,k=5 --ports bias+C,A+B
// sagen: --space i,j --tile i=4,j=3,k=5 --ports A+C
// sagen: --space i,j --tile i=4,j=3 --order k,i,j --ports A+scale,bias+C
// sagen: --space i,j --tile i=4,j=3,k=5 --order k,i,j --spill-beyond 1 --ports shared
// sagen: --space i,j --tile i=4,j=3,k=5 --order k,j,i --spill-beyond 1 --ports C+A
// sagen: --space i,k --tile i=4,k=4 --simd k=2 --ports shared --word A=64
// sagen: --space k --simd k=2 --ports shared --word C=1
// sagen: --space i --tile i=3,j=2 --ports shared --memory ddr --seed 5
// sagen: --ports shared
// sagen: --space i,j --tile i=4,j=3,k=5 --ports bias+C,A+B --memory ideal:200
// sagen: --space i --tile i=3,j=2 --ports shared --memory ideal:90
#include <stdint.h>

void shared_ports(const int8_t A[9][11], const int16_t B[11][7], const int32_t bias[7], const int16_t scale[1][2][9],
                  int64_t C[9][7]) {
#pragma scop
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 7; j++) {
      C[i][j] += bias[j] * scale[0][1][i];
      for (int k = 0; k < 11; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
