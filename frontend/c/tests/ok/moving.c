// Pointers that move, second counters, values behind loops.
#define N 12
void pointers(const int *x, int y[6], const int A[N][N], int B[N][N], int c[40], int d[40], unsigned char e[16], long z[24]) {
  int i, j, k, n;
  const int *p;
  int *q = c;
#pragma scop
  for (i = 0; i < 6; i++) { y[i] = x[0] - x[1]; x += 2; }
  // Nested, across rows.
  q = c;
  for (i = 0; i < 5; i++) {
    p = A[i];
    for (j = 0; j < 8; j++) *q++ = *p++ + 1;
  }
  // two counters, one in steps of 3, down.
  for (i = 0, k = 39; i < 13; i++, k -= 3) d[k] = c[i] * 2;
  // loops that are entered with what the one before left
  for (i = 0; i < 10; i += 4) d[i] = i;
  for (; i < 17; i++) d[i] += i * 3;
  // value behind a loop that may not run
  for (j = 0; j < 6; j++) {
    for (k = 3; k < j; k++) d[k + 20] -= j;
    d[k + 4 * j] += 100;
  }
  // while loops
  i = 16;
  while (i--) e[i] ^= (unsigned char)(3 * i + 1);
  n = 0;
  while (n < 5) { B[n][2 * n] = n; n++; }
  do { B[n][0] += n; n += 2; } while (n < N);
  B[11][11] = n;
  {
    unsigned u = 7;
    while (u-- > 2) B[u][u + 1] = A[u][u];
    B[0][1] = u;
  }
  // from both ends
  for (i = 0, j = N - 1; i < j; i++, j--) B[i][j] = A[j][i];
  // end pointer
  {
    const int *a = &A[3][2], *end = &A[3][N];
    long *w = z;
    while (a < end) { *w = *a; w += 2; ++a; }
    for (w = z + 23; w != z + 1; w -= 2) *w = 5;
  }
#pragma endscop
}
