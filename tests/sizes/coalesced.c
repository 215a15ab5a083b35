// Loops over n * m that count rows and columns by hand, as examples for HLS write bursts.
// sagen: --size n=1,m=1 --size n=6,m=5 --size n=3,m=4 --size n=6,m=1
#define W 4
#pragma sagen max(n=6, m=5)
void coalesced(const int *in, const int *in2, int *out, int *doubled, long *kept, int n, int m, const short small[3 * W], short turned[W][3]) {
#pragma scop
  int local[6][5];
  for (int k = 0, i = 0, j = 0; k < n * m; k++, j++) {
    if (j == m) {
      j = 0;
      i++;
    }
    local[i][j] = in[k] + k;
  }
  for (int k = 0, i = 0, j = 0; k < n * m; j++, k++) {
    if (j == m) {
      i += 1;
      j = 0;
    }
    out[k] = local[i][j] * in2[j];
  }
  for (unsigned k = 0; k < n * m; k++)
    doubled[k] = 2 * in[k] + k;
  const int whole = m * n;
  for (int k = 0; k < whole; k++)
    kept[k] += in[k];
  for (int k = 0, i = 0, j = 0; k < 3 * W; k++, j++) {
    if (j == W) { i++; j = 0; }
    turned[j][i] = small[k];
  }
#pragma endscop
}
