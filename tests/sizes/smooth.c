// sagen: --size n=1 --size n=2 --size n=3 --size n=50 --size n=23
#include <stdint.h>
#pragma sagen max(n=50)
void smooth(int n, const int16_t x[n], int16_t y[n])
{
#pragma scop
    for (int i = 1; i < n - 1; i++)
        y[i] = (x[i - 1] + 2 * x[i] + x[i + 1]) / 4;
#pragma endscop
}
