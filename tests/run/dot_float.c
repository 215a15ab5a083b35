// Reassociated sums of floats: balanced trees over lanes, interleaved sums over waves, fused dot products; shapes that do
// not fill their lanes.
// sagen: --reassociate --space i,j --simd k=4
// sagen: --reassociate --space i --simd k=8
// sagen: --reassociate --space i,j --latency i=1 -D K=40
// sagen: --reassociate --fp-contract --space i,j --latency i=1 -D K=40
// sagen: --reassociate --fp-contract --space i,j --simd k=3
// sagen: --reassociate --space i,k --latency i=1
// sagen: --reassociate --dot fused --space i,j --simd k=4
// sagen: --reassociate --dot fused --space i,j --simd k=3 --latency i=2 --tile i=4 -D K=11
// sagen: --reassociate --dot fused --space i,j --simd k=8 -D T=_Float16 -D K=16
// sagen: --reassociate --dot fused --space i,j --simd k=2 -D T=_Float16 -D S=_Float16
// sagen: --reassociate --dot fused --space i,k --simd k=2 -D K=12
#ifndef T
#define T float
#endif
#ifndef S
#define S float
#endif
#ifndef K
#define K 10
#endif

void dot_float(const T A[4][K], const T B[K][3], S C[4][3]) {
#pragma scop
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += (S)A[i][k] * (S)B[k][j];
#pragma endscop
}
