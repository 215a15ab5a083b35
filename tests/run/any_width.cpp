// Integers of any width: sums and products grow, assignments cut, shifted values keep their width.
#include "ap_int.h"
const int BITS = 4;
typedef ap_int<BITS> weight;
typedef ap_uint<6> sample;
static ap_int<12> scaled(ap_int<9> x, ap_uint<3> shift = 1) { return x << shift; }
void layer(const sample x[16], const weight w[8][16], ap_int<20> y[8], ap_uint<24> &sum, ap_int<5> bias, int plain[8])
{
  static const ap_int<4> table[4] = {1, -2, 7, -8};
#pragma scop
  sum = 0;
  for (int i = 0; i < 8; i++) {
    ap_int<16> acc = bias;
    for (int k = 0; k < 16; k++)
      acc += w[i][k] * x[k];
    ap_int<7> part = acc >> 3;
    y[i] = scaled(part - 3) + table[i & 3] * 5;
    sum += acc < 0 ? ap_uint<24>(1) : ap_uint<24>(x[i] ^ 0x2a);
    plain[i] = ~w[i][0] - part / 3 + acc % 7 + ((w[i][1] << 2) == 4 ? 100 : 0);
    if (-x[i] > part)
      plain[i] += (ap_int<6>)(y[i] + 17);
  }
#pragma endscop
}
