// Scopes around the region: an inner variable hides an outer one; an iterator and a temporary are used behind again.
#include <stdio.h>
struct pair {
  float re, im;
};
int main() {
  int x[8], i, t, total = 0;
  struct pair z[4], sum;
  for (i = 0; i < 8; ++i)
    x[i] = i * i - 9;
  for (i = 0; i < 4; ++i) {
    z[i].re = 0.5f * i;
    z[i].im = 1.0f - i;
  }
  sum.re = sum.im = 2.0f;
  {
    int total = 100, y[8];
    int *first = &total;
    *first = 50;
#pragma scop
    for (i = 0; i < 8; i++) {
      t = x[i] + total;
      y[i] = t * t;
    }
    for (i = 0; i < 4; i++) {
      sum.re += z[i].re;
      sum.im += z[i].im;
    }
#pragma endscop
    for (i = 0; i < 8; i++)
      printf("%d\n", y[i]);
  }
  if (total)
    t = 1;
  for (int t = 0; t < 2; t++)
    printf("%d %f\n", t, sum.re);
  t = total;
  return t;
}
