// Functions of `math.h` by polynomials: one after the other, and in a softmax.
// sagen: --math approx
#include <math.h>
#define N 6
void functions(const float x[N], float y[N], float p[N])
{
#pragma scop
    for (int i = 0; i < N; i++)
        y[i] = sinf(x[i]) + cosf(x[i]) * tanhf(x[i]) + logf(x[i] * x[i]);
    float sum = 0;
    for (int i = 0; i < N; i++) {
        p[i] = expf(x[i]);
        sum += p[i];
    }
    for (int i = 0; i < N; i++)
        p[i] /= sum;
#pragma endscop
}
