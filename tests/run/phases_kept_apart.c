// What is read here is written in another round of the outer loop, which is a phase: nothing of it moves to another one.
#include <stdint.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void kernel(int32_t x1[3][3][3], int64_t x9[3][3]) {
#pragma scop
for (int i = 0; i < 3; i++)
  for (int j = 0; j < 3; j++)
    for (int k = 2; k >= 0; k--) {
      x1[i][j][k] = x1[j][j][j];
      x9[j][k] = x1[k][j][j] - x9[j][k];
    }
#pragma endscop
}
