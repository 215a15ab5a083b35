// The forward algorithm of a hidden Markov model with one vector of state: all to all in each step.
#define T 5
#define S 4
void forward1(const float pi[S], const float a[S][S], const float b[T][S], float alpha[S]) {
  float next[S];
#pragma scop
  for (int s = 0; s < S; s++)
    alpha[s] = pi[s] * b[0][s];
  for (int t = 1; t < T; t++) {
    for (int s = 0; s < S; s++) {
      next[s] = 0.0f;
      for (int r = 0; r < S; r++)
        next[s] += alpha[r] * a[r][s];
    }
    for (int s = 0; s < S; s++)
      alpha[s] = next[s] * b[t][s];
  }
#pragma endscop
}
