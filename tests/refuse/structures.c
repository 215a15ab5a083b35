// Members of structures that do not exist, and tables that are too large.
#include <math.h>
struct row { int c[3]; };
void f(int a[8], int y[8], float w[64][64], struct row s[4]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    int lo = a[i], hi = lo + 2;
    for (int j = lo; j < hi; j++) //~ ERROR E0407 run the loop to the greatest value of the bound
      y[i] += a[j];
  }
  for (int i = 0; i < 4; i++) {
    s[i].c[i] = 1; //~ ERROR E0411 this is 3 at i = 3
    s[i].d[0] = 1; //~ ERROR E0403 there is no member `d`
    s[i].c = 1; //~ ERROR E0403 it is not a scalar
  }
#pragma endscop
}
