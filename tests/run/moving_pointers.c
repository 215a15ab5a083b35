// Pointers that move: a parameter, in nested loops, across an array, in a function, down, between two ends.
// sagen: --distribute
static void scale(const int *from, int *to, int n) {
  while (n--) *to++ = 3 * *from++;
}
void moving_pointers(const int *x, int y[6], const short a[5][8], int *out, const int in[12], int row[8], int back[12], int ends[9]) {
  const short *p;
  int *q;
#pragma scop
  for (int i = 0; i < 6; i++) {
    y[i] = x[0] - x[1];
    x += 2;
  }
  q = out;
  for (int i = 0; i < 5; i++) {
    p = a[i];
    for (int j = 0; j < 8; j++) *q++ = *p++ + i;
  }
  scale(in + 4, row, 8);
  q = &back[11];
  for (int i = 0; i < 4; i++, q -= 3) q[0] = row[i];
  for (q = ends + 8; q != ends - 1; --q) *q = 7;
#pragma endscop
}
