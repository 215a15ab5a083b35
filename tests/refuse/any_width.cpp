// Integers of any width beyond 64 bits, and as iterators.
#include <ap_int.h>
void f(ap_int<40> x[8], ap_int<65> wide[8], ap_uint<64> u[8], int y[8]) { //~ ERROR E0301 from 1 to 64
  //~^ ERROR E0301 from 1 to 63
#pragma scop
  for (ap_uint<3> i = 0; i < 8; i++) //~ ERROR E0413 must become 8
    y[0] = 0;
  for (ap_uint<4> i = 0; i < 4; i++)
    y[i << 1] = 0; //~ ERROR E0408 keeps its width
  for (int i = 0; i < 8; i++) {
    y[i] = x[i] * x[i] > 3; //~ ERROR E0311 this needs 80 bits
    y[i] = x[i] * 3 << 2; //~ ERROR E0311 this needs 72 bits
    x[i] = x[i] * 3 + wide[i] + u[i];
  }
#pragma endscop
}
