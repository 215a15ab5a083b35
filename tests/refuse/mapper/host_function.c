// Only the host has an exponential: not of what the array computes.
#include <math.h>
void kernel(const float x[8], float y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = expf(x[i]); //~ ERROR E0404 `expf`
#pragma endscop
}
