// Results through pointers to one element, beside a size.
// sagen: --size n=1 --size n=17 --size n=64
#include <stdint.h>
#pragma sagen max(n=64)
void norms(int n, const int16_t x[n], const int16_t y[n], int64_t *dot, int32_t *sum)
{
#pragma scop
    int64_t d = 0;
    sum[0] = 0;
    for (int i = 0; i < n; i++) {
        d += x[i] * y[i];
        *sum += x[i];
    }
    *dot = d;
#pragma endscop
}
