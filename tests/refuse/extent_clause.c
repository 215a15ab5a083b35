// Extents by pragma that are malformed, too small, of nothing.
#define N 8
#pragma sagen extent(x, N)
#pragma sagen extent(y) //~ ERROR E0105 extent(A, 64)
#pragma sagen extent(y, N - 8) //~ ERROR E0105 a positive number of elements
#pragma sagen extent(z, 4) //~ ERROR E0105 `z` is not a parameter that leaves its first extent open
#pragma sagen extent(w, 4) //~ ERROR E0105 `w` is not a parameter
#pragma sagen size(w, 4) //~ ERROR E0105 expected space(…), time(…), extent(…), max(…) or range(…)
#pragma sagen extent(v, 1 << 42) //~ ERROR E0304 more than 2^40 bytes
void kernel(const int *x, int *y, int z[4], int *v) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = x[i + 1] + v[i]; //~ ERROR E0411 this is 8 at i = 7
#pragma endscop
}
