// Code of the function around the region: the array starts from what it leaves, and ends before what follows.
#include <stdint.h>
#define N 8
int16_t bias[2];
void kernel(int32_t a[N], int32_t b[N], int16_t scale) {
  b[0] = 5;
  for (int i = 1; i < N; i++)
    b[i] = 7 * i;
  bias[1] = 3;
  scale = scale & 15;
#pragma scop
  for (int i = 0; i < N; i++)
    b[i] += a[i] * scale + bias[1];
#pragma endscop
  for (int i = 0; i < N; i++)
    a[i] = b[i] = 0;
}
