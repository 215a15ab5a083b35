// A lookup by data divides no iterator: the loop's start may be a maximum.
// sagen:
static const short table[8] = {3, -1, 4, 1, -5, 9, 2, -6};
#define MAX(a, b) ((a) > (b) ? (a) : (b))
void band(const unsigned A[4][6], int C[4][6]) {
#pragma scop
  for (int i = 0; i < 4; i++)
    for (int j = MAX(0, i - 2); j < 6; j++)
      C[i][j] = table[A[i][j] & 7];
#pragma endscop
}
