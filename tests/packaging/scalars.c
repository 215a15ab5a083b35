// Scalars by value among the arrays, in fp32; a static function of a file with a main of its own.
#include <stdint.h>
#ifndef N
#define N 32
#endif
static void axpby(float alpha, float x[N], double shift, float beta, int8_t times, float y[N]) {
#pragma scop
    for (int i = 0; i < N; i++)
        y[i] = alpha * x[i] + beta * y[i] * times + (float)shift;
#pragma endscop
}
int main(void) { static float x[N], y[N]; axpby(2, x, 1, 3, 4, y); return 0; }
