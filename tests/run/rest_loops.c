// An unrolled loop and its rest, which goes on with the same iterator.
// sagen:
// sagen: -D N=20
// sagen: -D N=3
#ifndef N
#define N 22
#endif
void rest_loops(int v[N], int e[1]) {
  int i;
#pragma scop
  e[0] = 0;
  for (i = 0; i + 3 < N; i += 4) e[0] += v[i] * v[i] + v[i + 1] * v[i + 1] + v[i + 2] * v[i + 2] + v[i + 3] * v[i + 3];
  for (; i < N; i++) e[0] += v[i] * v[i];
#pragma endscop
}
