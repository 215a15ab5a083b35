// A cascade of filters with feedback, and an FIR filter whose loops count down: inputs at the border only, read in one PE, in a
// row of PEs, or along a diagonal.
// sagen: -D IIR --space k --time k+n
// sagen: -D IIR --space n --time k+n
// sagen: -D IIR --space n --time k
// sagen: --space n --time=-k
// sagen: --space n --time=-n-k
// sagen: --space k --time=-n
// sagen: --space n+k --time=-k
#include <stdint.h>
#define N 10
#define K 4
#ifdef IIR
void transformed_filters(const int32_t x[N], int32_t y[N], const int32_t s[K]) {
#pragma scop
  for (int k = 0; k < K; k++)
    for (int n = 0; n < N; n++)
      y[n] = (k == 0 ? x[n] : y[n]) + (n == 0 ? s[k] : y[n - 1]) * 3;
#pragma endscop
}
#else
void transformed_filters(const int32_t x[N + K], const int32_t w[K], int32_t y[N]) {
  int32_t X[N][K], Y[N][K];
#pragma scop
  for (int n = N - 1; n >= 0; n--)
    for (int k = K - 1; k >= 0; k--) {
      X[n][k] = n == N - 1 || k == K - 1 ? x[n + K - 1 - k] : X[n + 1][k + 1];
      Y[n][k] = (k == K - 1 ? 0 : Y[n][k + 1]) + X[n][k] * w[k];
      if (k == 0)
        y[n] = Y[n][k];
    }
#pragma endscop
}
#endif
