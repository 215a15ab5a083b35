// Two functions whose arrays are equal run on one core, each with its own registers; the third has another word and ports.
// sagen: --sequence 60
// sagen: --sequence 20 --memory ddr --seed 9 --queue 4
// sagen: --sequence 10 --memory ideal:300 --ports shared
#include <stdint.h>
#define N 12
void add(const int32_t a[N], const int32_t b[N], int32_t c[N], int32_t offset) {
#pragma scop
  for (int i = 0; i < N; i++)
    c[i] = a[i] + b[i] * offset;
#pragma endscop
}
void sum(const int32_t left[N], const int32_t right[N], int32_t out[N], int32_t bias) {
#pragma scop
  for (int j = 0; j < N; j++)
    out[j] = left[j] + right[j] * bias;
#pragma endscop
}
void running(int64_t first, const int8_t x[N], int64_t y[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = i == 0 ? first : y[i - 1] + x[i];
#pragma endscop
}
