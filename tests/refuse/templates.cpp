// A region in a template.
template <typename T, int N> //~ ERROR E0211 a template has no types and sizes by itself
void scale(T x[N], T y[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = 3 * x[i];
#pragma endscop
}
