// sagen: --space j --size n=4,m=3 --size n=20,m=3 --size n=5,m=20 --size n=19,m=17
// Two eliminations of unlike orders: values wait as long as the size of their phase says.
#include <stdint.h>
#pragma sagen max(n=24, m=20)
void paths(int n, int m, int32_t D[n][n], int32_t E[m][m]) {
#pragma scop
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        D[i][j] = D[i][k] + D[k][j] < D[i][j] ? D[i][k] + D[k][j] : D[i][j];
  for (int i = 0; i < m; i++) E[i][i] = D[0][0];
  for (int k = 0; k < m; k++)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < m; j++)
        E[i][j] = E[i][k] + E[k][j] < E[i][j] ? E[i][k] + E[k][j] : E[i][j];
#pragma endscop
}
