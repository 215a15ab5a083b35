// Six arrays of as many types.
#include <stdint.h>
void six(int8_t a[24], uint8_t b[24], int16_t c[24], int32_t d[24], int64_t e[24], double f[24]) {
#pragma scop
    for (int i = 0; i < 24; i++) {
        e[i] = e[i] + a[i] * b[i] + c[i] * d[i];
        f[i] = f[i] * 0.5;
    }
#pragma endscop
}
