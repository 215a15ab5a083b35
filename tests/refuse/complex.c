// Complex numbers.
#include <complex.h>
void f(float complex x[8], float y[8]) { //~ ERROR E0301 write a structure of two floats
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = x[i];
#pragma endscop
}
