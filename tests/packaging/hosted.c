// In fp32: a scalar that the driver computes, with an infinity in its formula, and a local array between two phases.
#include <math.h>
#define N 6
void hosted(float alpha, const float x[N], float y[N]) {
    float s, t[N];
#pragma scop
    s = expf(alpha) + alpha / 1e39f;
    t[0] = s * x[0];
    for (int i = 1; i < N; i++)
        t[i] = t[i - 1] + s * x[i];
    y[N - 1] = t[N - 1];
    for (int i = N - 2; i >= 0; i--)
        y[i] = y[i + 1] + t[i];
#pragma endscop
}
