// Faults in functions that the region calls have their places there.
static int fold(int v, int kind) {
  switch (kind) {
  case 0:
    v++;
  default: //~ ERROR E0402 `fold` is called here
    return v - 1;
  }
}
static void compact(int a[16], int out[16]) {
  int from, k;
  from = 0;
  for (k = 0; k < 16; k++)
    if (a[k] != 0) {
      out[k] = a[from]; //~ ERROR E0408 the subscript is not affine
      from = from + 1;
    }
}
void f(int a[16], int out[16]) {
#pragma scop
  compact(a, out);
  for (int i = 0; i < 16; i++)
    out[i] = fold(a[i], 0);
#pragma endscop
}
