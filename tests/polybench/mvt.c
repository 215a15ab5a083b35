// mvt: x1 += A y1 and x2 += A^T y2.
#ifndef N
#define N 40
#endif

void kernel_mvt(float x1[N], float x2[N], float y_1[N], float y_2[N], float A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x1[i] = x1[i] + A[i][j] * y_1[j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      x2[i] = x2[i] + A[j][i] * y_2[j];
#pragma endscop
}
