// A condition on what has changed since, or on another element, says nothing of a subscript.
#include <stdint.h>
static const uint8_t square[12] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121 };
void f(const uint8_t x[8], uint8_t v[8], uint8_t y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    if (v[i] < 12) {
      v[i] = v[i] + 5;
      y[i] = square[v[i]]; //~ ERROR E0411 this is 0 to 255
    }
    if (x[i] < 13)
      y[i] = square[x[i]]; //~ ERROR E0411 this is 0 to 12
    y[i] = x[i] < 12 || square[x[7 - i]] ? 1 : 0; //~ ERROR E0411 this is 0 to 255
  }
#pragma endscop
}
