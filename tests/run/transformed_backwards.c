// Smith-Waterman from the ends of both words: loops that count down, so time is the negative sum of C's iterators.
// sagen: --space i --time=-i-j
// sagen: --space j --time=-i-j
// sagen: --space j-i --time=-i
// sagen: --space i --time=-i-j --latency i=3
#include <stdint.h>
#define N 9
#define M 6
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void transformed_backwards(const int8_t a[N], const int8_t b[M], int32_t H[N + 1][M + 1]) {
#pragma scop
  for (int i = N - 1; i >= 0; i--)
    for (int j = M - 1; j >= 0; j--)
      H[i][j] = MAX(0, MAX(H[i + 1][j + 1] + (a[i] == b[j] ? 3 : -3), MAX(H[i + 1][j] - 2, H[i][j + 1] - 2)));
#pragma endscop
}
