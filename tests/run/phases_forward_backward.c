// Forward-backward algorithm of a hidden Markov model, and its posterior.
// sagen:
// sagen: --on-chip 0
#define S 6
#define T 9
void hmm(const double A[S][S], const double B[T][S], const double pi[S], double alpha[T][S], double beta[T][S], double gamma[T][S]) {
  double z[T];
#pragma scop
  for (int s = 0; s < S; s++) alpha[0][s] = pi[s] * B[0][s];
  for (int t = 1; t < T; t++)
    for (int s = 0; s < S; s++) {
      double a = 0;
      for (int r = 0; r < S; r++) a += alpha[t-1][r] * A[r][s];
      alpha[t][s] = a * B[t][s];
    }
  for (int s = 0; s < S; s++) beta[T-1][s] = 1.0;
  for (int t = T - 2; t >= 0; t--)
    for (int s = 0; s < S; s++) {
      double a = 0;
      for (int r = 0; r < S; r++) a += A[s][r] * B[t+1][r] * beta[t+1][r];
      beta[t][s] = a;
    }
  for (int t = 0; t < T; t++) {
    z[t] = 0;
    for (int s = 0; s < S; s++) z[t] += alpha[t][s] * beta[t][s];
    for (int s = 0; s < S; s++) gamma[t][s] = alpha[t][s] * beta[t][s] / z[t];
  }
#pragma endscop
}
