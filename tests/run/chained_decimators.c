// Two decimating filters, one behind the other: two rates in one region.
// sagen:
void f(int x[32], const int h[4], const int g[4], int t[15], int y[6]) {
#pragma scop
  for (int i = 0; i < 15; i++) {
    t[i] = 0;
    for (int k = 0; k < 4; k++)
      if (2 * i + k < 32)
        t[i] += x[2 * i + k] * h[k];
  }
  for (int i = 0; i < 6; i++) {
    y[i] = 0;
    for (int k = 0; k < 4; k++)
      y[i] += t[2 * i + k] * g[k];
  }
#pragma endscop
}
