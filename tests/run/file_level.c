// A region at file level over global arrays, with constant coefficients that the program defines.
// sagen:
#include <stdint.h>
const int16_t taps[5] = {1, -2, 3, -4, 5};
int16_t x[34];
int32_t y[30];

#pragma sa
for (int n = 0; n < 30; n++) {
  y[n] = 0;
  for (int t = 0; t < 5; t++)
    y[n] += x[n + t] * taps[t];
}
#pragma endsa
