// Products of integers of 4 bits and fewer: four in a DSP slice, where lanes of i and of j share both factors, or three of
// one row. The values are a byte each in memory. Also the extremes, where all products are 64 or -56 or -120, lanes that do not
// divide the loops, factors of different widths, and masks and shifts that the program writes itself.
// sagen: --pack --space i,j --tile i=4,j=8,k=16 --latency i=2,j=2 --simd i=2,j=2,k=8
// sagen: --pack -D LOW --space i,j --tile i=4,j=4,k=16 --simd i=2,j=2,k=16
// sagen: --pack -D LOW -D TB=u4 -D HIGH_B --space i,j --tile i=4,j=4,k=16 --simd i=2,j=2,k=8
// sagen: --pack -D TA=u4 -D TB=u4 -D HIGH -D HIGH_B --space i,j --tile i=4,j=4,k=16 --simd i=2,j=2,k=16
// sagen: --pack -D I=7 -D J=5 -D K=11 --space i,j --tile i=4,j=4,k=4 --latency i=2 --simd i=2,j=2,k=4
// sagen: --pack -D I=7 -D J=5 -D K=16 -D LOW --space i,k --tile i=4,j=6,k=8 --simd j=3,k=4
// sagen: --pack -D TA=s3 -D TB=u2 --space i,j --tile i=6,j=6,k=16 --simd i=3,j=3,k=4
// sagen: --pack -D TA=s3 -D TB=int8_t --space i,j --tile i=4,j=4,k=16 --simd i=2,j=2,k=4
// sagen: --pack -D BYTES -D TA=int8_t -D TB=uint8_t --space i,j --tile i=4,j=4,k=16 --simd i=2,j=2,k=8
// sagen: --pack --limit dsp=6
// sagen: --pack -D I=7 -D J=5 -D K=11 -D TB=u4 --limit dsp=3
// sagen: --space i,j --tile i=4,j=4,k=16 --simd j=2,k=8
// sagen: --pack -D LOW --board pynq-z2 --space i,j --tile i=4,j=4,k=4 --simd i=2,j=2,k=2
#include <stdint.h>
typedef _BitInt(4) s4;
typedef unsigned _BitInt(4) u4;
typedef _BitInt(3) s3;
typedef unsigned _BitInt(2) u2;
#ifndef TA
#define TA s4
#endif
#ifndef TB
#define TB s4
#endif
#ifndef I
#define I 8
#define J 8
#define K 16
#endif
#ifdef BYTES
// Signed and unsigned values of 4 bits, whatever is in the others.
#define SIGNED(x) ((x) << 28 >> 28)
#define UNSIGNED(x) ((x) & 15)
#else
#define SIGNED(x) (int)(x)
#define UNSIGNED(x) (int)(x)
#endif
#ifdef LOW
#pragma sagen range(A, -8, -8)
#endif
#ifdef HIGH
#pragma sagen range(A, 15, 15)
#endif
#ifdef HIGH_B
#pragma sagen range(B, 15, 15)
#elif defined(LOW)
#pragma sagen range(B, -8, -8)
#endif
void packed_nibbles(const TA A[I][K], const TB B[K][J], int32_t C[I][J]) {
#pragma scop
  for (int i = 0; i < I; i++)
    for (int j = 0; j < J; j++) {
      int32_t sum = 0;
      for (int k = 0; k < K; k++)
        sum += SIGNED(A[i][k]) * UNSIGNED(B[k][j]);
      C[i][j] = sum;
    }
#pragma endscop
}
