// seidel-2d: mean of nine neighbours in place (Gauss-Seidel).
#ifndef TSTEPS
#define TSTEPS 20
#endif
#ifndef N
#define N 40
#endif

void kernel_seidel_2d(float A[N][N]) {
#pragma scop
  for (int t = 0; t <= TSTEPS - 1; t++)
    for (int i = 1; i <= N - 2; i++)
      for (int j = 1; j <= N - 2; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                   + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0f;
#pragma endscop
}
