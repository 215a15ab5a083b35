// Arrays on the heap: memory that the function has allocated for a pointer is an array of the extent that the region
// touches. Pointers to it may move.
#include <stdlib.h>
#define N 10
#define ALLOCATE(type, n) ((type *)malloc((n) * sizeof(type)))
int allocated(const short x[N][N], long y[N]) {
  int *sums = calloc(N, sizeof *sums), *unused;
  short(*turned)[N] = (short(*)[N])malloc(sizeof(short) * N * N);
  long *now = NULL, *next;
  now = ALLOCATE(long, N);
  next = ALLOCATE(long, N);
  unused = sums + 3;
  for (int i = 0; i < N; i++) now[i] = i - 3, next[i] = 0;
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      turned[i][j] = x[j][i];
      sums[i] += x[j][i];
    }
  for (int t = 0; t < 4; t++) {
    for (int i = 1; i < N - 1; i++) next[i] = now[i - 1] + turned[i][2] * now[i + 1];
    for (int i = 1; i < N - 1; i++) now[i] = next[i];
  }
  for (int i = 0; i < N; i++) y[i] = sums[i] + now[i];
#pragma endscop
  int result = sums[3] + unused[1];
  free(sums);
  free(turned);
  free(now);
  free(next);
  return result;
}
