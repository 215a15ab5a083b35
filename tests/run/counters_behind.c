// Counters that are used behind the region have the values that C leaves in them: in nests, with steps, narrow, under
// conditions, with two bounds. The iterators of the loops are the hardware's own.
int steps[3];
int before, never;
static int fill(int x[20], int *end) {
  int i;
  for (i = 0; i < 20; ++i) x[i]++;
  *end = i;
  return i;
}
int counters_behind(int x[20], int y[20], int u[20], int v[20], int z[1]) {
  int i, j, k, end, last = -1;
  unsigned char narrow;
#pragma scop
  z[0] = fill(x, &end);
  z[0] += end;
  for (before = 0; before < 20; before++) y[before] = before;
  for (never = 5; never < 3; never++) y[never] = 0;
  for (i = 1; i < 20; i += 3)
    for (j = i; j > 0; j--) u[j] += x[i];
  for (narrow = 0; narrow < 20; narrow++)
    if (x[narrow] > 0)
      for (last = narrow; last >= 3; last -= 3) v[last] = x[narrow] + last;
  for (k = 0; k < 15 && k + 3 < 12; k++) x[k] = k;
#pragma endscop
  return i + j + k + last + narrow + before + never;
}
