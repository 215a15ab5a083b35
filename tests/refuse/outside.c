// Accesses outside of the arrays.
#define N 8
void f(int A[N], int B[N][N], int C[2 * N]) {
#pragma scop
  for (int i = 0; i <= N; i++)
    A[i] = 0; //~ ERROR E0411 this is 8 at i = 8
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++)
      B[i][j] = B[i - 1][j] + B[i][j + 1]; //~ ERROR E0411 this is -1 at i = 0, j = 0
      //~^ ERROR E0411 this is 8 at i = 0, j = 7
  for (int i = N; i > 0; i--)
    A[i - 1] = C[2 * i]; //~ ERROR E0411 this is 16 at i = 8
  for (int i = 0; i < N; i++)
    if (i > 3)
      A[i - 4] = A[i + 4]; //~ ERROR E0411 subscripts run from 0 to 7
  A[N] = 0; //~ ERROR E0411 this is 8
  for (int i = 0; i < N; i++)
    A[i] = i > 0 ? A[i - 1] : A[i - 1]; //~ ERROR E0411 this is -1 at i = 0
#pragma endscop
}
