// Counters that belong to the file: those that other functions use have C's values, those that others set first have no
// results.
#include <stdio.h>
#define N 12
int i, j, position;
int table[N][N], sums[N];
static void start(void) {
  for (i = 0; i < N; i++)
    for (j = 0; j < N; j++) table[i][j] = i * j - 5;
}
int main(void) {
  start();
#pragma scop
  for (i = 0; i < N; i++) {
    sums[i] = 0;
    for (j = 0; j < N; j++) sums[i] += table[i][j];
  }
  for (position = 3; position + 1 < N; position += 2) sums[position] = -sums[position];
  position = position * 2;
  while (position > 4) position -= 3;
#pragma endscop
  for (i = 0; i < N; i++) printf("%d\n", sums[i]);
  printf("%d\n", position);
}
