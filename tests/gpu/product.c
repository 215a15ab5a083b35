// Products: floats, 32-bit integers that wrap around; sums that continue from what is there.
// sagen:
// sagen: --space j,i --time k
// sagen: --space j,i --time k --tile i=4,j=96 -D T=unsigned
// sagen: --space i,j --time k --tile j=5
// sagen: --space j,i --time k -D T=double -D M=33 -D N=65
// sagen: --space j,i --time k --fp-contract
#ifndef T
#define T float
#endif
#ifndef M
#define M 43
#endif
#ifndef N
#define N 70
#endif
#ifndef K
#define K 50
#endif
void product(const T A[M][K], const T B[K][N], T C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
