// The six designs of one-dimensional windows, a row that is no multiple of a word, and words by hand.
// sagen: --space c --time q
// sagen: --space c+q --time q
// sagen: --space c --time c+q
// sagen: --space c --time 2*c+q
// sagen: --space q --time c+q
// sagen: --space q --time c+2*q
// sagen: --space c --time q --tile c=64
// sagen: --space c --time q --tile c=256 -D N=1003
// sagen: --space c+q --time q -D Q=9 -D N=517
// sagen: -D Q=31 -D N=5000 --fp-contract
// sagen: -D N=3
#ifndef N
#define N 1000
#endif
#ifndef Q
#define Q 5
#endif
void taps(const float x[N + Q - 1], const float w[Q], float out[N]) {
#pragma scop
  for (int c = 0; c < N; c++) {
    out[c] = 0;
    for (int q = 0; q < Q; q++)
      out[c] += x[c + q] * w[q];
  }
#pragma endscop
}
