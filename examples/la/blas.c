// Six routines of linear algebra in half precision, for one IP:
//   sagen rtl --board zcu104 examples/la/blas.c --merge
#define N 64
typedef _Float16 half;

// A = alpha * A + B
void scale(half alpha, half A[N][N], const half B[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] = alpha * A[i][j] + B[i][j];
#pragma endscop
}

// y = alpha * A * x + beta * y
void gemv(half alpha, half beta, const half A[N][N], const half x[N], half y[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    half sum = 0;
    for (int j = 0; j < N; j++)
      sum += A[i][j] * x[j];
    y[i] = alpha * sum + beta * y[i];
  }
#pragma endscop
}

// y = alpha * A * x + beta * y, where A is lower triangular
void trmv(half alpha, half beta, const half A[N][N], const half x[N], half y[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    half sum = 0;
    for (int j = 0; j <= i; j++)
      sum += A[i][j] * x[j];
    y[i] = alpha * sum + beta * y[i];
  }
#pragma endscop
}

// A = alpha * x * y' + A
void ger(half alpha, const half x[N], const half y[N], half A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] += alpha * x[i] * y[j];
#pragma endscop
}

// C = alpha * A * B + beta * C
void gemm(half alpha, half beta, const half A[N][N], const half B[N][N], half C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      half sum = 0;
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = alpha * sum + beta * C[i][j];
    }
#pragma endscop
}

// C = alpha * A * B + beta * C, where A is lower triangular
void trmm(half alpha, half beta, const half A[N][N], const half B[N][N], half C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      half sum = 0;
      for (int k = 0; k <= i; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = alpha * sum + beta * C[i][j];
    }
#pragma endscop
}
