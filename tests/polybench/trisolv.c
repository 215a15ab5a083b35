// trisolv: L x = b by forward substitution.
#ifndef N
#define N 40
#endif

void kernel_trisolv(float L[N][N], float x[N], float b[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] = x[i] / L[i][i];
  }
#pragma endscop
}
