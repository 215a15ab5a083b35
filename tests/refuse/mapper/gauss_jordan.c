// Row k is changed first and read by all other rows afterwards: by those above it, which come before it, and by those below.
void gauss_jordan(float A[5][6]) {
#pragma scop
  for (int k = 0; k < 5; k++) {
    for (int j = 5; j > k; j--)
      A[k][j] = A[k][j] - A[k][k]; //~ ERROR E0601 `A`
    for (int i = 0; i < 5; i++)
      if (i != k)
        for (int j = k + 1; j < 6; j++)
          A[i][j] = A[i][j] - A[i][k] * A[k][j]; //~ ERROR E0601 `A`
  }
#pragma endscop
}
