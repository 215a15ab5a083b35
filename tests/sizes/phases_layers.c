// sagen: --size c=3,s=6,o=2 --size c=1,s=1,o=1 --size c=4,s=8,o=5
// Two convolutions with ReLU and a requantization between, then a fully connected layer.
#include <stdint.h>
#pragma sagen max(c=4, s=8, o=5)
void net(int c, int s, int o, const int8_t x[c][s + 4], const int8_t w1[c][c][3], const int8_t w2[c][c][3], const int8_t w3[o][c][s], int32_t y[o]) {
  int8_t a[4][10];
  int8_t b[4][8];
  int32_t acc;
#pragma scop
  for (int p = 0; p < c; p++) for (int i = 0; i < s + 2; i++) {
    acc = 0;
    for (int q = 0; q < c; q++) for (int k = 0; k < 3; k++) acc += x[q][i + k] * w1[p][q][k];
    a[p][i] = (int8_t)(acc < 0 ? 0 : acc >> 6 > 127 ? 127 : acc >> 6);
  }
  for (int p = 0; p < c; p++) for (int i = 0; i < s; i++) {
    acc = 0;
    for (int q = 0; q < c; q++) for (int k = 0; k < 3; k++) acc += a[q][i + k] * w2[p][q][k];
    b[p][i] = (int8_t)(acc < 0 ? 0 : acc >> 6 > 127 ? 127 : acc >> 6);
  }
  for (int p = 0; p < o; p++) {
    y[p] = 0;
    for (int q = 0; q < c; q++) for (int i = 0; i < s; i++) y[p] += b[q][i] * w3[p][q][i];
  }
#pragma endscop
}
