// A function that is inlined as statements, in branches of `?:` and behind `&&`: it has no effects, so it may run always.
#include <stdint.h>
#define N 9
static int32_t root(int32_t x) {
    int32_t r = 0;
    for (int b = 3; b >= 0; b--) {
        int32_t t = r + (1 << b);
        r = t * t <= x ? t : r;
    }
    return r;
}
void kernel(const uint8_t x[N], int32_t y[N]) {
#pragma scop
    for (int i = 0; i < N; i++)
        y[i] = x[i] > 100 ? root(x[i]) : x[i] < 50 && root(x[i] + 1) > 3 ? -root(x[i]) : x[i];
#pragma endscop
}
