// A region without loops.
// sagen:
#include <stdint.h>
void no_loops(const int16_t a[2], int32_t b[3]) {
#pragma scop
  b[0] = a[0] * a[1];
  b[2] = b[0] - a[1];
#pragma endscop
}
