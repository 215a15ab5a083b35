// Arrays whose values move along an axis both ways, cut into two, three and four bands: a value that moves against the
// waves crosses back.
// sagen: --space i --cuts none
// sagen: --space i --cuts i=9
// sagen: --space i --cuts i=2,7
// sagen: --space i --cuts i=2,4,12 --memory ddr
// sagen: -D FLOAT --space i --cuts i=3,5
// sagen: -D FLOAT --space i --cuts i=13
// sagen: -D WIDE --space i --latency i=1 --cuts i=7
// sagen: -D WIDE --space i --latency i=1 --cuts i=2,5,7
// sagen: -D PLANE --space i,j --cuts none
// sagen: -D PLANE --space i,j --cuts i=1
// sagen: -D PLANE --space i,j --cuts i=1,2,3
// sagen: -D PLANE --space i,j --cuts j=2 --memory ddr
// sagen: -D PLANE --space i,j --cuts j=1,3
// sagen: -D PLANE -D FLOAT --space i,j --cuts i=2
// sagen: -D PLANE --space i --latency i=1 --cuts i=1,2,3
// sagen: -D PLANE --space j --latency j=1 --cuts j=2,4
#include <stdint.h>
#ifdef FLOAT
typedef float number;
#else
typedef int32_t number;
#endif

#ifdef PLANE
#define T 4
#define N 6
#define M 7
void relax(number A[T + 1][N][M]) {
#pragma scop
  for (int t = 1; t <= T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < M - 1; j++)
        A[t][i][j] = 3 * A[t - 1][i][j] + A[t - 1][i - 1][j] - A[t - 1][i + 1][j] + A[t - 1][i][j - 1] - A[t - 1][i][j + 1];
#pragma endscop
}
#else
#define T 5
#define N 16
void relax(number A[N], number B[N]) {
#pragma scop
  for (int t = 0; t < T; t++) {
#ifdef WIDE
    for (int i = 2; i < N - 2; i++)
      B[i] = A[i - 2] + 3 * A[i] - A[i + 1] + A[i + 2];
    for (int i = 2; i < N - 2; i++)
      A[i] = B[i];
#else
    for (int i = 1; i < N - 1; i++)
      B[i] = A[i - 1] + 3 * A[i] - A[i + 1];
    for (int i = 1; i < N - 1; i++)
      A[i] = B[i - 1] - B[i] + 2 * B[i + 1];
#endif
  }
#pragma endscop
}
#endif
