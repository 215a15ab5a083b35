// A layer of a network: each layer has macros of its own, which its C program is compiled with, too.
// sagen: --network tests/functions/network.toml --sequence 16
// sagen: --network tests/functions/network.toml --function layer_first,layer_two_by_two --space o --sequence 8 --memory ddr
// sagen: --network tests/functions/rows.toml --space o,r --order o,r,c,i,p,q --tile o=4,r=2,c=2,i=64,p=1,q=1 --simd i=4 --word X=64,W=64,Y=4 --sequence 8
// sagen: --network tests/functions/network.toml --space o,r --tile o=4,r=2 --latency c=2 --cuts o=1,3 --sequence 8
// sagen: --network tests/functions/network.toml --space o,r --tile o=4,r=2 --latency c=2 --cuts r=1 --sequence 8
// sagen: --network tests/functions/network.toml -D GAIN=3 --space o,r --tile o=4,r=2 --latency c=2 --sequence 8 --queue 2
#include <stdint.h>

#ifndef O
#define O 2
#endif
#ifndef I
#define I 3
#endif
#ifndef S
#define S 4
#endif
#ifndef GAIN
#define GAIN 1
#endif

void layer(const int8_t X[S + 1][S + 1][I], const int8_t W[O][2][2][I], int32_t Y[S][S][O]) {
#pragma scop
  for (int o = 0; o < O; o++)
    for (int r = 0; r < S; r++)
      for (int c = 0; c < S; c++) {
        Y[r][c][o] = GAIN;
        for (int i = 0; i < I; i++)
          for (int p = 0; p < 2; p++)
            for (int q = 0; q < 2; q++)
              Y[r][c][o] += X[r + p][c + q][i] * W[o][p][q][i];
      }
#pragma endscop
}
