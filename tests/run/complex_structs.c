// Structures of scalars of one type, in arrays, as locals, copied whole.
#include <stdint.h>
#define N 6
typedef struct {
  int32_t re, im;
} complex_t;
struct sample {
  int16_t left, right, level;
};
static complex_t product(complex_t a, complex_t b) {
  complex_t c;
  c.re = a.re * b.re - a.im * b.im;
  c.im = a.re * b.im + a.im * b.re;
  return c;
}
void kernel(const complex_t x[N], complex_t *y, const complex_t w[1], struct sample s[N][2]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    complex_t t = product(x[i], w[0]);
    y[i].re += t.re;
    y[i].im -= t.im;
    for (int j = 0; j < 2; j++) {
      s[i][j].level = s[i][j].left + s[i][j].right * 2;
      (&s[i][j])->left = t.re >> 3;
    }
  }
#pragma endscop
}
