// Jacobi, Gauss-Seidel, Floyd-Warshall; local arrays, steps, `!=`, unsigned iterators.
#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#define T 4
#define N 10
void stencil(int A[N][N], int32_t u[N], long path[N][N], bool reach[N][N]) {
#pragma scop
  int B[N][N] = {0};
  const int w[3] = {1, 2, 1};
  const int shift = 2;
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j != N - 1; j++)
        B[i][j] = (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i - 1][j] + A[i + 1][j]) / 5;
    for (size_t i = 1; i < N - 1; i++)
      for (unsigned j = 1; j <= N - 2; j += 1)
        A[i][j] = B[i][j];
  }
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      u[i] = (w[0] * u[i - 1] + w[1] * u[i] + w[2] * u[i + 1]) >> shift;
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
        reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
      }
  for (int i = 1; i < N; i = i + 3)
    for (int j = 2 * i; j >= 0; j -= 2)
      if (j < N)
        u[j] += i - j;
      else
        u[i] ^= j;
  for (unsigned char i = N; i != 0; --i)
    u[i - 1] -= i;
#pragma endscop
}
