// Locals that are read where a condition has failed under which they were written.
void kernel(const int a[8], int x[8], int y[8]) {
  int t;
#pragma scop
  for (int i = 0; i < 8; i++) {
    int s;
    if (a[i] > 5)
      s = a[i]; //~ ERROR E0502 where the condition around this write fails, it has none
    x[i] = s;
    if (a[i] > x[i])
      t = 1; //~ ERROR E0502 `t` may be read without a value
    x[i] = 4;
    if (a[i] > x[i])
      y[i] = t;
  }
#pragma endscop
}
