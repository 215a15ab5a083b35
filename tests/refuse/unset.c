// Locals of a block that a path leaves without a value: C has another variable in each iteration.
#include <math.h>
struct row { int c[3]; };
void f(int a[8], int y[8], float w[64][64], struct row s[4]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    int t; //~ ERROR E0502 each iteration of `i` has a new one
    if (i == 0)
      t = 0;
    if (a[i] > 0)
      t = a[i];
    y[i] = t;
  }
#pragma endscop
}
