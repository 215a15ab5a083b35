// Selections of bits that are not understood.
#include <ap_int.h>
void f(ap_uint<16> x[8], ap_int<64> wide[8], ap_uint<8> y[8], int n[8], int plain[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    y[i] = x[i].range(16, 9); //~ ERROR E0411 these bits are outside of the integer
    y[i] = x[i].range(0, 3); //~ ERROR E0411 these bits are outside of the integer
    y[i][8] = 1; //~ ERROR E0411 these bits are outside of the integer
    y[i] = x[i].range(n[i], 0); //~ ERROR E0404 the number of these bits is not constant
    y[i] = wide[i].range(3, 0); //~ ERROR E0404 bits of an `ap_int<64>`
    y[i] = (x[i], y[i]); //~ ERROR E0404 `(a, b)` of integers of any width
    plain[i] = n[i].to_int(); //~ ERROR E0404 call through an expression
    plain[i] = x[i].reverse(); //~ ERROR E0404 call through an expression
  }
#pragma endscop
}
