// A table that data index is read inside its bounds for sure, or not at all.
#include <stdint.h>
static const uint8_t square[12] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121 };
void f(const uint8_t x[8], uint8_t y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    int k = x[i] >> 4;
    y[i] = square[k]; //~ ERROR E0411 this is 0 to 15
  }
#pragma endscop
}
