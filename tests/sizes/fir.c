// sagen: --size n=1 --size n=31 --size n=200 --size n=7
#include <stdint.h>
#define TAPS 5
#pragma sagen max(n=200)
void fir(int n, const int16_t x[n + TAPS - 1], const int16_t h[TAPS], int32_t y[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        y[i] = 0;
        for (int t = 0; t < TAPS; t++)
            y[i] += x[i + t] * h[t];
    }
#pragma endscop
}
