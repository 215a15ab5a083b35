// sagen: --size n=1,t=1 --size n=5,t=6 --size n=8,t=9 --size n=3,t=9
// Viterbi: every state needs all states of the step before; states and steps are sizes.
#include <stdint.h>
#pragma sagen max(n=8, t=9)
void viterbi(int n, int t, const int16_t a[n][n], const int16_t e[t][n], int32_t d[t][n]) {
#pragma scop
  for (int j = 0; j < n; j++) d[0][j] = e[0][j];
  for (int k = 1; k < t; k++)
    for (int j = 0; j < n; j++) {
      d[k][j] = -1000000;
      for (int i = 0; i < n; i++)
        d[k][j] = d[k - 1][i] + a[i][j] > d[k][j] ? d[k - 1][i] + a[i][j] : d[k][j];
      d[k][j] += e[k][j];
    }
#pragma endscop
}
