// `while` and `do` loops that count.
// sagen: --distribute
#define N 12
void counting_while(unsigned char block[16], unsigned char key[16], int a[N], int b[N][N], int c[9]) {
  int i, n;
#pragma scop
  i = 16;
  while (i--) block[i] ^= key[i];
  n = 0;
  while (n < 5) {
    a[n] += 2 * n;
    n++;
  }
  do {
    a[n] -= n;
    n += 2;
  } while (n < N);
  for (int k = 0; k < N; k++) {
    unsigned j = k + 1;
    while (j-- > 0) b[k][j] = k + j;
  }
  n = 9;
  do {
    c[n - 1] = n;
  } while (--n);
#pragma endscop
}
