// Two-dimensional windows.
// sagen:
// sagen: --space c,p --time r+p,q -D W=254 -D H=64
// sagen: --space c --time r,p,q
// sagen: --space c,p --time r+p,q -D W=2043 -D H=70 -D PITCH_OUT=2048
// sagen: --space c,q --time r,p
// sagen: --space c+q,p --time r+p,q
// sagen: --space c,p --time r+p,q -D P=5 -D Q=7 -D W=301
// sagen: --space c,p --time r+p,q -D P=11 -D Q=11 -D W=502 -D H=130 -D PITCH_OUT=512 --tile c=256 --fp-contract
#ifndef W
#define W 140
#endif
#ifndef H
#define H 50
#endif
#ifndef P
#define P 3
#endif
#ifndef Q
#define Q 3
#endif
// Elements of a row in memory.
#ifndef PITCH_IN
#define PITCH_IN (W + Q - 1)
#endif
#ifndef PITCH_OUT
#define PITCH_OUT W
#endif
void window(const float x[H + P - 1][PITCH_IN], const float w[P][Q], float out[H][PITCH_OUT]) {
#pragma scop
  for (int r = 0; r < H; r++)
    for (int c = 0; c < W; c++) {
      out[r][c] = 0;
      for (int p = 0; p < P; p++)
        for (int q = 0; q < Q; q++)
          out[r][c] += x[r + p][c + q] * w[p][q];
    }
#pragma endscop
}
