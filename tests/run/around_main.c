// A region in the middle of `main`: arrays and scalars that `main` sets are inputs, those that it uses behind are results.
#include <stdio.h>
#include <stdlib.h>
#define N 12
static int checked(int x) { return x & 1023; }
int main(int argc, char **argv) {
  static int left[N][N];
  int right[N][N], product[N][N], sums[N], unused[3];
  int scale, total = 5, last;
  float gain;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      left[i][j] = checked(37 * i + j);
      right[i][j] = checked(i - 5 * j);
    }
  scale = argc + 2;
  gain = 0.5f * scale;
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      product[i][j] = 0;
      for (int k = 0; k < N; k++)
        product[i][j] += left[i][k] * right[k][j];
    }
  for (int i = 0; i < N; i++) {
    sums[i] = (int)(gain * i) + scale * product[i][i];
    total += sums[i];
  }
  last = N;
#pragma endscop
  printf("%d %d\n", total, last);
  for (int i = 0; i < N; i++)
    printf("%d %d\n", product[i][1], sums[i]);
  return unused[0] * 0;
}
