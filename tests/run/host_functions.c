// Functions of the C library of what is passed by value, in a scalar of the function's own and inside an expression.
#include <math.h>
void decay(float tau, double w, const float x[9], float y[9], double z[9]) {
  float a;
#pragma scop
  a = expf(-1.0f / tau);
  y[0] = x[0];
  for (int i = 1; i < 9; i++)
    y[i] = a * y[i - 1] + (1.0f - a) * x[i] * cosf(tau);
  for (int i = 0; i < 9; i++)
    z[i] = z[i] * (float)pow(w, 3.0) + (float)sin(w);
#pragma endscop
}
