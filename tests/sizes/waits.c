// sagen: --space i --size t=1,n=2,m=3 --size t=5,n=9,m=5 --size t=5,n=9,m=31 --size t=3,n=5,m=17
// How long a value waits follows from a size: rows run as often as they must, and as the operators take.
#pragma sagen max(t=5, n=9, m=40)
void heat(int t, int n, int m, float A[t][n][m]) {
#pragma scop
  for (int s = 1; s < t; s++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < m - 1; j++)
        A[s][i][j] = 0.25f * (A[s-1][i-1][j] + A[s-1][i+1][j] + A[s-1][i][j-1] + A[s-1][i][j+1]);
#pragma endscop
}
