// C++: sizes, one of them an integer of any width, a reference to a result, and what the function returns.
#include "ap_int.h"
typedef ap_int<12> sample;
#pragma sagen max(m=11, n=13)
ap_int<24> plus(ap_uint<4> m, const sample a[][13], int n, ap_int<20> *y, ap_int<30> &all, const ap_int<6> bias = 3) {
#pragma scop
  ap_int<24> sum = 0;
  all = bias;
  for (ap_uint<5> i = 0; i < m; i++) {
    ap_int<16> row = bias;
    for (int j = 0; j < n; j++)
      row += a[i][j] * i;
    y[i] = row;
    sum += row;
    all += row - m;
  }
#pragma endscop
  return sum;
}
