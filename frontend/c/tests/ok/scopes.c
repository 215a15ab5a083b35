// Names that hide others, conditions whose operands the body changes, loops under data conditions.
#include <stdint.h>
#define N 6
void scopes(int a[N], uint8_t b[N][N], int16_t c[N]) {
#pragma scop
  int x = 0;
  for (int i = 0; i < N; i++) {
    x += a[i];
    if (x > 0) {
      int x = 7;
      x += i;
      c[i] = x;
    } else
      c[i]--;
    if (a[i] > 3)
      for (int i = 0; i < 3; i++)
        b[i][i] += a[i];
    if (c[i] < x) {
      c[i] = x;
      if (c[i] > 20) {
        x = c[i] / 2;
        a[i] ^= x;
      } else if (i > 2 && a[i - 3] < x)
        x++;
    } else {
      x -= 1;
      c[i] += 2;
    }
    if (!(i < 2 || b[i - 2][i] > 100) || a[i] == 1) {
      for (int j = i; j < N; j++) {
        int t = b[i][j];
        if (t & 1) {
          t = 3 * t + 1;
          a[i] += t;
        }
        b[i][j] = t >> 1;
      }
    }
  }
  a[0] = x;
#pragma endscop
}
