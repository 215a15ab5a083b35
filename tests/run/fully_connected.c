// Fully connected layer with a bias, an activation and a clamp in the region.
// sagen:
// sagen: --space b,o --latency b=1
// sagen: --space o,i --latency o=1
// sagen: -D B=1 -D O=1 -D I=1
// sagen: -D B=1 -D O=11 -D I=13 --space o --latency o=1
#include <stdint.h>
#ifndef B
#define B 3
#define O 7
#define I 5
#endif
void fully_connected(int8_t x[B][I], int8_t w[O][I], int32_t bias[O], int8_t y[B][O]) {
#pragma scop
  for (int b = 0; b < B; b++)
    for (int o = 0; o < O; o++) {
      int sum = bias[o] >> 20;
      for (int i = 0; i < I; i++)
        sum += x[b][i] * w[o][i];
      y[b][o] = sum < 0 ? 0 : sum >> 6 > 127 ? 127 : sum >> 6;
    }
#pragma endscop
}
