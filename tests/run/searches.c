// Loops that `break` ends, and the counters that they leave: forwards, backwards, to bounds that are counted, without a
// hit, in nests; a table that the counter selects from.
static const short table[9] = {5, -3, 8, 1, 0, 7, -9, 2, 4};
int searches(const int x[24], const int v[6], int first[6], int last[6], int found[6]) {
  int i, j, k;
  unsigned char none;
#pragma scop
  for (j = 0; j < 6; j++) {
    for (i = 0; i < 24; i++)
      if ((x[i] & 15) == (v[j] & 15)) break;
    first[j] = i;
    for (i = 23; i >= j; --i) {
      int d = x[i] - v[j];
      if (d < 0) continue;
      if ((d & 7) == 3) break;
      last[j] = d;
    }
    last[j] += i * 1000;
    for (k = 0; k <= 7; k++)
      if (x[k] > v[j]) break;
    found[j] = table[k];
    for (k = 0; k < 6; k++) found[j] += first[k] & (k + j);
    found[j] += k;
  }
  for (none = 3; none < 2; none++)
    if (x[none] > 0) break;
  for (i = 2; 20 > i; i++)
    if (x[i] < -5 && x[i - 1] > 5) break;
#pragma endscop
  return i + none;
}
