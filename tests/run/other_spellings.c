// Ways to write that other compilers accept: K&R definitions, (void), assert, __GNUC__, headers in quotation marks,
// parameters that the region does not use.
#include "assert.h"
#include "math.h"
#include "stdint.h"
#if defined(__GNUC__)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#error this compiler is not known
#endif
#ifndef __SYNTHESIS__
#error the C program and the hardware have the same macros
#endif
_Static_assert(sizeof(int) == 4, "int");
ALWAYS_INLINE int six(int v) { return v < 0 ? 0 : v > 6 ? 6 : v; }
void old(n, x, y, m, log)
int x[8], y[8];
float m[1];
char **log;
{
  int i;
#pragma scop
  assert(n > 0);
  (void)n;
  for (i = 0; i < 8; i++) {
    y[i] = six(x[i]);
    m[0] += pow(x[i] * 0.25f - 1.0f, 2);
  }
#pragma endscop
}
