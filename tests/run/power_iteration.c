// Three steps of a power iteration, unrolled, each scaled down.
// sagen:
#define N 6
void power(int A[N][N], int x0[N], int x1[N], int x2[N], int x3[N], int r[1]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    int s = 0;
    for (int j = 0; j < N; j++)
      s += A[i][j] * x0[j];
    x1[i] = s >> 3;
  }
  for (int i = 0; i < N; i++) {
    int s = 0;
    for (int j = 0; j < N; j++)
      s += A[i][j] * x1[j];
    x2[i] = s >> 3;
  }
  for (int i = 0; i < N; i++) {
    int s = 0;
    for (int j = 0; j < N; j++)
      s += A[i][j] * x2[j];
    x3[i] = s >> 3;
  }
  r[0] = 0;
  for (int i = 0; i < N; i++)
    r[0] += x3[i] * x2[i];
#pragma endscop
}
