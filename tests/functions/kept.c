// Arrays that stay on chip from run to run: odd sizes, types of unlike widths, a scalar, one that a function reads and writes
// anew, some that several functions share.
// sagen: --merge --keep W,acc,runs,F --sequence 50
// sagen: --merge --keep W,acc,runs,F --queue 8 --overlap --seed 2 --sequence 50
// sagen: --merge --keep acc,F --memory ddr --seed 3 --sequence 20
// sagen: --merge --keep W,acc,runs,F --ports shared --guard --grid 1 --seed 4 --sequence 30
// sagen: --merge --keep W,acc,runs,F --objective cycles --seed 5 --sequence 20
// sagen: --merge --keep W,acc,runs,F --engine icarus --seed 6 --sequence 12
// sagen: --keep F --seed 7 --sequence 30
#include <stdint.h>
static int8_t W[7][13];
static int32_t acc[13];
static uint16_t runs;
static float F[3][5];
void load(const int8_t A[7][13]) {
#pragma scop
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 13; j++)
      W[i][j] = A[i][j];
#pragma endscop
}
void row(const int8_t x[7], int n, int32_t y[13]) {
#pragma scop
  for (int j = 0; j < 13; j++) {
    int32_t s = 0;
    for (int i = 0; i < 7; i++)
      s += W[i][j] * x[i];
    acc[j] += s * n;
    y[j] = acc[j];
  }
  runs += 1;
#pragma endscop
}
void out(int32_t a[13], uint16_t r[1], int8_t w[7][13]) {
#pragma scop
  r[0] = runs;
  for (int j = 0; j < 13; j++) {
    a[j] = acc[j];
    acc[j] = 0;
  }
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 13; j++)
      w[i][j] = W[6 - i][12 - j];
#pragma endscop
}
void fl(const float g[3][5], float h[3][5]) {
#pragma scop
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 5; j++)
      h[i][j] = F[i][j] * g[i][j];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 5; j++)
      F[i][j] = g[i][4 - j];
#pragma endscop
}
