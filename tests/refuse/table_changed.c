// What a variable holds is known up to its next change: in a branch, in an iteration before, behind a loop.
#include <stdint.h>
static const uint8_t square[12] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121 };
void f(const uint8_t x[8], uint8_t y[8][4]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    int s = x[i], r = x[i];
    if (s > 11) s = 11;
    y[i][0] = square[s];
    s = s + 1;
    y[i][0] += square[s]; //~ ERROR E0411 this is 1 to 12
    s = s & 7;
    if (x[i] > 3) s = x[i];
    y[i][1] = square[s]; //~ ERROR E0411 this is 0 to 255
    if (i < 4) r = r & 7;
    y[i][1] += square[r]; //~ ERROR E0411 this is 0 to 255
    int t = 3;
    for (int j = 0; j < 3; j++) {
      y[i][2] = square[t]; //~ ERROR E0411 this is 0 to 255
      t = x[i];
      if (t > 11) t = 11;
      y[i][3] = square[t];
      t = t < 11 ? x[i] : t;
    }
    y[i][2] += square[t]; //~ ERROR E0411 this is 0 to 255
  }
#pragma endscop
}
