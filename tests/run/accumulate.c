// The result is added to what is there; the arrays are globals, beside a main; the region counts down and by steps.
// sagen:
// sagen: --space i,j --tile i=4,j=4,k=5
// sagen: --space i,k --address-bits 32
// sagen: --space i,k --latency i=1
#include <stdio.h>
#define N 12

static short A[N][N], B[N][N];
int C[N][N];

static void accumulate(void) {
#pragma scop
  for (int i = N - 1; i >= 0; i--)
    for (int j = 0; j <= N - 1; j++)
      for (int k = 1; k < N; k += 3)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

int main(void) {
  accumulate();
  printf("%d\n", C[0][0]);
  return 0;
}
