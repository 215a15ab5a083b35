// Two instances in the halves of registers: sums of 16 bits that wrap around, an odd number of instances, results of 32 bits.
// sagen: --function wrapped
// sagen: --function wrapped --space j --time k,i
// sagen: --function wrapped --sanitize address
// sagen: --function filters --space j --time k,i
// sagen: --function filters
// sagen: --function chosen --space j --time k,i
#include <stdint.h>
enum { B = 2401, N = 40, M = 35 };
void wrapped(const int16_t x[B][N], const int16_t y[B][M], int16_t most[B][M], int16_t least[B][M]) {
  int16_t D[N][M], E[N][M];
#pragma scop
  for (int k = 0; k < B; k++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        if (i == 0 || j == 0) {
          D[i][j] = y[k][j];
          E[i][j] = x[k][i];
        } else {
          int16_t a = D[i - 1][j - 1] + x[k][i];
          int16_t b = (D[i - 1][j] > D[i][j - 1] ? D[i - 1][j] : D[i][j - 1]) + y[k][j];
          D[i][j] = a > b ? a : b;
          int16_t c = E[i - 1][j - 1] + x[k][i];
          int16_t d = (E[i - 1][j] < E[i][j - 1] ? E[i - 1][j] : E[i][j - 1]) - y[k][j];
          E[i][j] = c < d ? c : d;
        }
      }
    for (int j = 0; j < M; j++) {
      most[k][j] = D[N - 1][j];
      least[k][j] = E[N - 1][j];
    }
  }
#pragma endscop
}
void filters(const int8_t x[B][N][M], int32_t y[B][N][M]) {
  int16_t s[N][M];
#pragma scop
  for (int k = 0; k < B; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        if (i == 0)
          s[i][j] = x[k][i][j];
        else
          s[i][j] = s[i - 1][j] + x[k][i][j];
        y[k][i][j] = s[i][j];
      }
#pragma endscop
}
void chosen(const uint8_t x[B][N], const uint8_t y[B][M], int16_t s[B][M]) {
  int16_t D[N][M];
#pragma scop
  for (int k = 0; k < B; k++) {
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++) {
        if (i == 0)
          D[i][j] = x[k][i] == y[k][j] ? 5 : y[k][j];
        else
          D[i][j] = D[i - 1][j] + (x[k][i] != y[k][j] ? -7 : 30000) + (y[k][j] == 3 ? x[k][i] : 1);
      }
    for (int j = 0; j < M; j++)
      s[k][j] = D[N - 1][j];
  }
#pragma endscop
}
