// Shortest paths: row and column k spread both ways, so the domain is folded along them.
#ifndef N
#define N 6
#endif
// sagen:
// sagen: --row 0
// sagen: --row 1
// sagen: --row 2
// sagen: --row 3
// sagen: --row 6
// sagen: --row 8
// sagen: -D N=1
// sagen: -D N=2
// sagen: -D N=3 --space i,j --latency i=1
// sagen: --space i --time k,j
// sagen: --space i+k,j+k --time k
// sagen: -D N=11 --space i,j --latency i=1
void floyd_warshall(int path[N][N]) {
#pragma scop
  for (int k = 0; k < N; k++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
#pragma endscop
}
