// Functions of iterators: a window, and the factors of a Fourier transform, one of them in a variable.
// sagen: --distribute
#include <math.h>
#define N 8
void twiddles(float x[N], float y[N], float re[N], float im[N]) {
#pragma scop
  for (int i = 0; i < N; i++) y[i] = x[i] * (0.5f - 0.5f * cosf(6.2831853f * i / (N - 1.0f)));
  for (int k = 0; k < N; k++) {
    float a = 0, b = 0;
    for (int n = 0; n < N; n++) {
      double angle = 2 * 3.14159265358979323846 * k * n / N;
      a += x[n] * (float)cos(angle);
      b -= x[n] * (float)sin(angle);
    }
    re[k] = a;
    im[k] = b;
  }
#pragma endscop
}
