// Quotients by powers of two, constants behind conditions, and roots of halves: the same bits by cheaper operators.
// sagen:
// sagen: --space i --simd i=2
#include <math.h>
#include <stdint.h>
#define N 24
void cheaper(const int32_t a[N], const uint16_t u[N], const int8_t s[N], const float x[N], const _Float16 h[N],
             int32_t q[N], uint32_t v[N], int8_t t[N], float y[N], _Float16 g[N], _Float16 m[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    q[i] = (a[i] - 1000000000) / 16 - a[i] % 1024 + (-a[i]) % 2;
    v[i] = u[i] / 8u + (uint32_t)a[i] % 64u + (uint32_t)a[i] / 2147483648u;
    t[i] = s[i] / 4 + s[i] % 8;
    y[i] = x[i] / 8.0f - x[i] / -0.25f + x[i] / 3.0f;
    g[i] = sqrtf(h[i]);
    m[i] = h[i] > 0 ? 1 : 0;
  }
#pragma endscop
}
