// sagen: --size width=1 --size width=9 --size width=31
// C++ with a size; it, the iterator and the data are integers of any width.
#include "ap_int.h"
typedef ap_uint<5> select;
#pragma sagen max(width=31)
ap_int<13> sum(const ap_int<8> x[32], ap_int<8> y[31], select width) {
#pragma scop
  ap_int<13> all = 0;
  select k;
  for (k = 0; k < width; k++) {
    all += x[k + 1];
    y[k] = x[k] - k * 3 - width;
  }
#pragma endscop
  return all;
}
