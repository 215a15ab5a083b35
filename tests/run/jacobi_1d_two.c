// Jacobi in one dimension as in PolyBench: two arrays that take turns, two nests in every time step.
#ifndef N
#define N 12
#endif
#ifndef T
#define T 5
#endif
// sagen:
// sagen: --space i --latency i=1
// sagen: -D N=3 -D T=1
// sagen: -D N=5 -D T=7 --space t,i --latency t=1
void jacobi(float A[N], float B[N]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    for (int i = 1; i < N - 1; i++)
      B[i] = 0.33333f * (A[i - 1] + A[i] + A[i + 1]);
    for (int i = 1; i < N - 1; i++)
      A[i] = 0.33333f * (B[i - 1] + B[i] + B[i + 1]);
  }
#pragma endscop
}
