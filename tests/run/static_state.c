// `static` variables are state: arguments whose buffers the host keeps. `scratch` is written before it is read, so it is
// none.
int step(int x, int y[4]) {
  static int taps[4] = {1, -2, 3, 4};
  static int line[4];
#pragma scop
  static int scratch[4];
  static unsigned count = 7;
  for (int k = 3; k > 0; k--)
    line[k] = line[k - 1];
  line[0] = x;
  for (int k = 0; k < 4; k++)
    scratch[k] = line[k] * taps[k];
  for (int k = 0; k < 4; k++) {
    static int peak;
    if (scratch[k] > peak)
      peak = scratch[k];
    y[k] = scratch[k] + peak;
  }
  count = count + 1;
#pragma endscop
  return 0;
}
