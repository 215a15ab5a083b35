// Smith-Waterman with an array that is cut: values, and the letters of one sequence, cross.
// sagen: --space i --latency i=1 --cuts i=4,9
// sagen: --space j --latency j=1 --cuts j=1,2,3
#include <stdint.h>
#define M 11
#define N 9
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void alignment(uint8_t a[M], uint8_t b[N], int16_t H[M + 1][N + 1]) {
#pragma scop
  for (int i = 0; i <= M; i++)
    H[i][0] = 0;
  for (int j = 1; j <= N; j++)
    H[0][j] = 0;
  for (int i = 1; i <= M; i++)
    for (int j = 1; j <= N; j++) {
      int diagonal = H[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -3);
      int gap = MAX(H[i - 1][j], H[i][j - 1]) - 2;
      H[i][j] = MAX(MAX(diagonal, gap), 0);
    }
#pragma endscop
}
