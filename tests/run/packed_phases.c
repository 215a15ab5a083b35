// Two products, one after the other on the same PEs, with two products of narrow integers in each DSP slice. Both phases
// share slices if their integers are in the same places.
// sagen: --pack --distribute --space i,j --tile i=4,j=4 --simd j=2
// sagen: --pack --distribute --space i --tile i=4,j=4 --simd j=2,k=4
// sagen: --pack --distribute --space i,j --tile i=4,j=4 --simd i=2,j=2,k=2
// sagen: --pack -D TW=uint8_t --distribute --space i,j --tile i=4,j=4 --simd j=2,k=4
// sagen: --pack -D TA=uint8_t -D TT=uint8_t --distribute --space j --tile i=4,j=4 --simd i=2,k=4
// sagen: --pack -D TT=int16_t --distribute --space i,j --tile i=4,j=4 --simd j=2,k=4
// sagen: --pack -D TA=uint8_t --distribute --board pynq-z2 --space i --tile i=4,j=4 --simd j=2,k=2
#include <stdint.h>
#define N 8
#ifndef TA
#define TA int8_t
#endif
#ifndef TW
#define TW int8_t
#endif
#ifndef TT
#define TT int8_t
#endif
void packed_phases(const TA A[N][N], const int8_t B[N][N], const TW W[N][N], int32_t C[N][N]) {
  TT T[N][N];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int32_t s = 0;
      for (int k = 0; k < N; k++)
        s += A[i][k] * B[k][j];
      T[i][j] = s >> 4;
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      int32_t s = 0;
      for (int k = 0; k < N; k++)
        s += T[i][k] * W[k][j];
      C[i][j] = s;
    }
#pragma endscop
}
