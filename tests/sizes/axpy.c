// sagen: --size n=1 --size n=61 --size n=300
#include <stdint.h>
#pragma sagen max(n=300)
void axpy(int n, int16_t a, const int16_t x[n], int32_t y[n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        y[i] = y[i] + a * x[i] + i * n;
#pragma endscop
}
