// An `int` that is set once before the region is a constant there.
#include <stdio.h>
#define N 16
static int A[N][N], B[N][N], C[N][N];
int main(void) {
  int n, i, j, k;
  n = 16;
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) { A[i][j] = i + j; B[i][j] = i - j; }
#pragma scop
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++) {
      C[i][j] = 0;
      for (k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
  printf("%d\n", C[3][4]);
  return 0;
}
