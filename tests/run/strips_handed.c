// sagen: --strip k=4 --space i --order k,j
// sagen: --strip k=3 --slant j=2 --space i --order k,j --memory ddr
// sagen: --strip k=5 --slant i=3 --space j --order k,i
// sagen: --strip k=4 --slant i=2 --space j --tile j=8 --order j,k,i
// sagen: --strip k=4 --slant i=3 --space j --tile j=5 --order j,k,i --memory ideal:100
// sagen: --strip k=2 --slant j=1 --space i --order k,j
// LU decomposition in place: what is left to eliminate shrinks, and stays in its PEs from strip to strip.
#define N 21

void lu(float A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < N; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
#pragma endscop
}
