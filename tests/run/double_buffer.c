// Diffusion between the halves of a double buffer.
// sagen:
#define T 5
#define N 10
void diffuse(int A[2][N], int total[T]) {
#pragma scop
  for (int t = 0; t < T; t++) {
    total[t] = 0;
    for (int i = 1; i < N - 1; i++) {
      A[(t + 1) % 2][i] = (A[t % 2][i - 1] + 2 * A[t % 2][i] + A[t % 2][i + 1]) >> 2;
      total[t] += A[t % 2][i];
    }
  }
#pragma endscop
}
