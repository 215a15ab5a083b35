// Products of narrow integers that share a factor, two in a DSP slice: lanes of j share A, lanes of i share B. Sums of
// signed, unsigned and mixed products, also narrower than the field that they come from, or wider. Ranges
// make all products the greatest or the least ones, or nearly so: the sum of eight products of -128 and -128 is the greatest
// that a field holds.
// sagen: --pack --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd j=2,k=8
// sagen: --pack -D LOW -D LOW_B --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd j=2,k=8
// sagen: --pack -D HIGH -D LOW_B -D TA=uint8_t --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd j=2,k=4
// sagen: --pack -D LOW -D HIGH_B -D TB=uint8_t --space i,j --tile i=4,j=8,k=16 --simd j=2,k=8
// sagen: --pack -D HIGH -D HIGH_B -D TA=uint8_t -D TB=uint8_t --space i,j --tile i=4,j=4,k=16 --simd i=2,k=8
// sagen: --pack -D LOW -D LOW_B -D TC=int16_t --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd j=2,k=8
// sagen: --pack -D TC=int8_t --space i,j --tile i=4,j=4 --simd j=2,k=2
// sagen: --pack -D LOW -D LOW_B -D TC=int64_t --space i,j --tile i=4,j=4,k=16 --simd j=2,k=16
// sagen: --pack -D TC=uint64_t -D TA=uint8_t --space i,j --tile i=4,j=4,k=8 --simd i=2,j=2,k=4
// sagen: --pack -D I=7 -D J=5 -D K=11 --space i,k --tile i=4,j=4,k=4 --simd j=2,k=2
// sagen: --pack -D I=7 -D J=5 -D K=11 --space j,k --tile i=4,j=4 --simd i=3
// sagen: --pack -D LOW -D LOW_B --board pynq-z2 --space i,j --tile i=4,j=4 --simd j=2,k=2
// sagen: --pack --board ulx3s --space i,j --tile i=4,j=4 --simd j=2,k=2
// sagen: --pack -D LOW -D LOW_B -D TRIANGLE --space i,j --tile i=4,j=8,k=4 --simd j=2,k=4
// sagen: --pack -D LOW -D LOW_B -D TC=int16_t --space i,j --tile i=4,j=4,k=16 --simd j=2,k=16
// sagen: --pack -D HIGH -D HIGH_B -D TA=uint8_t -D TB=uint8_t -D TC=uint16_t --space i,j --tile i=4,j=4,k=16 --simd j=2,k=16
// sagen: --pack -D HIGH -D LOW_B -D TA=uint8_t -D TC=int8_t --space i,j --tile i=4,j=4,k=16 --simd j=2,k=16
// sagen: --pack -D LOW -D LOW_B -D K=37 --space i,j --tile i=4,j=4,k=37 --simd j=2,k=37
// sagen: --pack --limit dsp=16
// sagen: --pack -D LOW -D LOW_B -D I=7 -D J=5 -D K=11 --limit dsp=6
#include <stdint.h>
#ifndef TA
#define TA int8_t
#endif
#ifndef TB
#define TB int8_t
#endif
#ifndef TC
#define TC int32_t
#endif
#ifndef I
#define I 8
#endif
#ifndef J
#define J 8
#endif
#ifndef K
#define K 16
#endif
#ifdef TRIANGLE
#define WHERE(i, j, k) if (k <= i)
#else
#define WHERE(i, j, k)
#endif
#ifdef LOW
#pragma sagen range(A, -128, -127)
#endif
#ifdef HIGH
#pragma sagen range(A, 254, 255)
#endif
#ifdef LOW_B
#pragma sagen range(B, -128, -127)
#endif
#ifdef HIGH_B
#pragma sagen range(B, 254, 255)
#endif
void packed_products(const TA A[I][K], const TB B[K][J], TC C[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      C[i][j] = 0;
      for (int k = 0; k < K; k++)
        WHERE(i, j, k) C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
