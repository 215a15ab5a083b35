// sagen: --size n=1 --size n=30 --size n=64
// An element in front, one pointer that moves; extents are n, n + 1 and n.
#pragma sagen max(n=64)
void pointer_and_size(const int *a, const int *b, int *c, int n) {
#pragma scop
  for (int i = 0; i < n; i++) c[i] = a[i + 1] - a[i] + *b++;
#pragma endscop
}
