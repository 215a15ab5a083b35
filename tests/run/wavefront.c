// Gauss-Seidel over floats: along every loop a value waits for the division of the one before, so time is a wavefront, which all
// dependences follow, and other iterations run while a value is under way.
// sagen:
// sagen: --space t,i --time 4*t+2*i+j --latency i=2 --tile i=4
// sagen: --space t --time 4*t+2*i+j,i
// sagen: -D N=5 -D T=2 --space t,i --time 4*t+2*i+j --latency t=2,i=3 --tile t=2,i=3 --memory ddr
#ifndef N
#define N 6
#define T 3
#endif
void wavefront(float A[N][N]) {
#pragma scop
  for (int t = 0; t < T; t++)
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++)
        A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
                   + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0f;
#pragma endscop
}
