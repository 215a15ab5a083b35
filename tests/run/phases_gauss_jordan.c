// Every other row, above and below, loses its multiple of the pivot row, which is divided first.
void gauss_jordan(float A[5][6]) {
#pragma scop
  for (int k = 0; k < 5; k++) {
    for (int j = 5; j >= k; j--)
      A[k][j] = A[k][j] / A[k][k];
    for (int i = 0; i < 5; i++)
      if (i != k)
        for (int j = 5; j >= k; j--)
          A[i][j] = A[i][j] - A[i][k] * A[k][j];
  }
#pragma endscop
}
