// Bits of integers of any width as values and as targets: `x[k]`, `x.range(h, l)`, `x(h, l)`; conversions by members.
#include "ap_int.h"
static ap_uint<8> reversed(ap_uint<8> v) {
  ap_uint<8> r = 0;
  for (int k = 0; k < 8; k++) r[k] = v[7 - k];
  return r;
}
static ap_uint<8> folded(ap_uint<16> v) { return v(15, 8) ^ v.range(7, 0); }
void bits(const ap_uint<16> x[16], const ap_int<12> s[16], ap_uint<8> y[16], ap_int<12> z[16], int count[16]) {
#pragma scop
  for (int i = 0; i < 16; i++) {
    y[i] = reversed(folded(x[i]));
    ap_int<12> w = s[i];
    w.range(7, 4) = x[i].range(3, 0) + 1;
    w[11] = w[0];
    w[1] ^= x[i][15];
    w(3, 2) = s[i](11, 10);
    w.set(9);
    z[i] = s[i].test(5) ? w : ap_int<12>(-w);
    int n = 0;
    for (int k = 0; k < 4; k++) n += x[i].range(4 * k + 3, 4 * k) << k;
    for (int k = 0; k < 12; k++) n += s[i][k] << 1;
    count[i] = n + x[i].to_int() * s[i].length() + (x[i].range(9, 6) == 5 || !x[i].range(1, 0));
    z[i][i % 8] = 0;
  }
#pragma endscop
}
