// Contraction: every form of a product in a sum, and what must stay as it is (converted or stored products).
// sagen:
// sagen: --fp-contract
// sagen: --fp-contract --space i --latency i=1
// sagen: --fp-contract --space i,j --simd k=4
// sagen: --fp-contract --reassociate --space i,j --simd k=4
// sagen: --fp-contract -D T=_Float16 -D S=float
// sagen: --fp-contract -D T=double -D S=float --space j --latency j=1
#ifndef T
#define T float
#define S float
#endif
#define N 6

void fp_contract(const T A[N][N], const T B[N][N], T C[N][N], S D[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      T sum = C[i][j] - A[i][j] * B[i][j];
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum * B[i][j] + A[i][j] * A[i][j];
      D[i][j] = (S)(A[i][j] * B[i][j]) - (S)(C[i][j] * A[i][j] - B[j][i]);
    }
#pragma endscop
}
