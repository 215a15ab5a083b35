// Extents that are open beside a size at run time: the accesses determine the first one only.
#pragma sagen max(n=16)
#pragma sagen extent(given, 4)
void f(int n, const int x[n], int *first, int *more, int rows[][4], int *given) {
#pragma scop
  *first = 0;
  for (int i = 0; i < n; i++) {
    first[0] += x[i];
    more[i] = x[i];
  }
  rows[0][n - 1] = 1; //~ ERROR E0411 this is 4 at n = 5
  rows[1][0] = 1;
  given[3] = 1;
#pragma endscop
}
