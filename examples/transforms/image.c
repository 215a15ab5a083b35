// 2-D convolution as uniform recurrences, rows of the image one after the other: x along q, sums along p, then q.
// 2-D SBM with PEs c + q, and 2-D FBS with PEs c; time runs over r, q, p.
// sagen: --space c+q --time r,q,p
// sagen: --space c --time r,q,p
// sagen: -D P=2 -D Q=2 --space c+q --time r,q,p
// sagen: -D P=2 -D Q=2 --space c --time r,q,p --memory ddr --engine icarus
#include <stdint.h>
#define R 4
#define C 16
#ifndef P
#define P 5
#define Q 5
#endif
void image(const int32_t x[R + P - 1][C + Q - 1], const int32_t w[Q][P], int32_t out[R][C]) {
  int32_t X[R][Q][P][C], Z[R][Q][P][C];
#pragma scop
  for (int r = 0; r < R; r++)
    for (int q = 0; q < Q; q++)
      for (int p = 0; p < P; p++)
        for (int c = 0; c < C; c++) {
          X[r][q][p][c] = q == 0 || c == C - 1 ? x[r + p][c + q] : X[r][q - 1][p][c + 1];
          Z[r][q][p][c] = (p == 0 ? (q == 0 ? 0 : Z[r][q - 1][P - 1][c]) : Z[r][q][p - 1][c]) + X[r][q][p][c] * w[q][p];
          if (q == Q - 1 && p == P - 1)
            out[r][c] = Z[r][q][p][c];
        }
#pragma endscop
}
