// Copies and fills of a number of elements that is a size; arrays are not null.
// sagen: --size n=1 --size n=9 --size n=4
#include <string.h>
#pragma sagen max(n=9)
void memory_counted(const int *x, int *y, const signed char *small, signed char *copy, signed char *zeros,
                    const short bias[9], const short *const more, int n) {
#pragma scop
  memcpy(y, x, n * sizeof(*x));
  memcpy(copy, small, n);
  memset(zeros, 0, n * sizeof(signed char));
  if (bias)
    for (int i = 0; i < n; i++)
      y[i] += bias[i];
  if (more == NULL || !bias)
    y[0] = 7;
  else
    for (int i = 0; i < n; i++)
      y[i] -= (more != 0) ? more[i] : 1000;
#pragma endscop
}
