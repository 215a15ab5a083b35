// The function around the region starts its arrays and overwrites what it needs no more. `t` is a temporary: the code
// behind the region gives it a new value first.
void smooth(const int x[20], int y[20]) {
  int window[3], t, best = -1000;
  window[0] = 1;
  window[1] = x[19] & 3;
  window[2] = 1;
#pragma scop
  for (int i = 0; i < 18; i++) {
    t = 0;
    for (int k = 0; k < 3; k++)
      t += x[i + k] * window[k];
    y[i] = t;
    best = best < t ? t : best;
  }
#pragma endscop
  t = best;
  y[19] = t;
}
