// A product whose columns are dealt out to the PEs: elements of a bus word belong to neighbours. Words hold fewer elements
// than there are PEs, as many, and more; rows begin inside of words, and tiles run past the end.
// sagen: --space i,j --latency i=2,j=2 --cuts j=9,20
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=4 --simd k=4 --cyclic j --word A=8,B=8,C=8
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=4 --simd k=4 --cyclic j --word A=8,B=4,C=4
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=2 --simd k=4 --cyclic j --word A=8,B=4,C=2
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=2 --simd k=4 --cyclic j --word A=2,B=2,C=1
// sagen: --space j,i --tile i=12,j=48,k=5 --latency i=3,j=3 --cyclic j --word A=8,B=16,C=8 --unaligned
// sagen: --space j --tile i=6,j=48,k=8 --latency j=3 --cyclic j --word A=8,B=16,C=16
// sagen: --space j --tile i=6,j=32,k=8 --latency j=2 --simd j=2 --cyclic j --word A=8,B=8,C=8
// sagen: --space j --latency j=9 --cyclic j --word A=8,B=8,C=8
// sagen: --space j,k --tile i=6,j=32,k=8 --latency j=4 --cyclic j --word A=8,B=8,C=8
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=4 --simd k=4 --cyclic j --word A=8,B=8,C=8 -D SHIFT=3 -D N=61
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=4 --simd k=4 --cyclic j --ports shared --word A=16 -D SHIFT=1 -D N=70
// sagen: --space i,j --tile i=12,j=32,k=8 --latency i=3,j=4 --simd k=4 --cyclic none --word A=8,B=8,C=8
#include <stdint.h>
#ifndef N
#define N 72
#endif
#ifndef SHIFT
#define SHIFT 0
#endif
#define M 22
#define K 20

void dealt_out(const int16_t A[M][K], const int16_t B[K][N + SHIFT], int32_t C[M][N + SHIFT]) {
#pragma scop
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < K; k++)
                C[i][j + SHIFT] += A[i][k] * B[k][j + SHIFT];
#pragma endscop
}
