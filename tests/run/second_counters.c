// Counters beside the iterator: in other steps, down, across two loops, past a loop that may not run.
// sagen: --distribute
void second_counters(int x[30], int y[15], int z[30], int u[36], int v[30], long w[16]) {
  int k, m;
#pragma scop
  for (int i = 0, w = 0; i < 15; i++, w += 2) y[i] = x[w] + x[w + 1];
  for (int i = 0, j = 14; i < j; i++, j--) z[i] = y[j] - y[i];
  k = 0;
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 3; j++, k += 2) u[k] = x[k - i];
  for (int j = 0; j < 6; j++) {
    for (m = 3; m < j; m++) v[m + 20] -= j;
    v[m + 3 * j] += 100;
  }
  unsigned char at = 15;
  for (int i = 0; i < 8; i++) {
    w[at] = i;
    at -= 2;
  }
#pragma endscop
}
