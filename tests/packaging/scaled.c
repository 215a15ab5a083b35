// Sizes beside scalars: one by value, and one that the driver computes from it.
#include <math.h>
#include <stdint.h>
#pragma sagen max(m=11, n=13)
void scaled(int m, float alpha, const float A[m][13], int16_t n, const float x[n], float y[m])
{
#pragma scop
    for (int i = 0; i < m; i++) {
        y[i] = alpha * y[i];
        for (int j = 0; j < n; j++)
            y[i] += expf(-alpha) * A[i][j] * x[j];
    }
#pragma endscop
}
