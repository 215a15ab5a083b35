#include <stdint.h>
#pragma sagen max(n=20)
void pool(int n, const int8_t x[n], int8_t y[n / 2]) { //~ ERROR E0302 a division of a size
#pragma scop
  for (int i = 0; i < n / 2; i++) //~ ERROR E0407 a division of a size
    y[i] = x[2 * i] > x[2 * i + 1] ? x[2 * i] : x[2 * i + 1];
#pragma endscop
}
