// Extents that are open beside a size at run time.
#pragma sagen max(n=16)
#pragma sagen extent(given, 4)
void f(int n, const int x[n], int *first, int *more, int rows[][4], int *given) { //~ ERROR E0306 such as `more[n]`, or a constant, `#pragma sagen extent(more, 4)`
  //~^ ERROR E0306 the first extent of `rows` is missing
#pragma scop
  *first = 0;
  for (int i = 0; i < n; i++) {
    first[0] += x[i];
    more[i] = x[i];
  }
  rows[0][n - 1] = 1;
  rows[1][0] = 1;
  given[3] = 1;
#pragma endscop
}
