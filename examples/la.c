// A small linear-algebra library as one IP: a function each for the products, the rank-one update and the triangular
// system. `sagen rtl examples/la.c -o out/la` gives an IP with four entries; `sagen sim examples/la.c --sequence 100` runs
// each of them, then all in random order.
#ifndef N
#define N 32
#endif

// C += A B
void gemm(const float A[N][N], const float B[N][N], float C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

// y = alpha A x + beta y
void gemv(float alpha, const float A[N][N], const float x[N], float beta, float y[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    float sum = 0;
    for (int k = 0; k < N; k++)
      sum += A[i][k] * x[k];
    y[i] = alpha * sum + beta * y[i];
  }
#pragma endscop
}

// A += alpha x y'
void ger(float alpha, const float x[N], const float y[N], float A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] += alpha * x[i] * y[j];
#pragma endscop
}

// Solves L x = b for a lower triangular L, in place.
void trsv(const float L[N][N], float x[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] /= L[i][i];
  }
#pragma endscop
}
