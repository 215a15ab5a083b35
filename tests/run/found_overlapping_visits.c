// Two tile loops moved the box of cells by the same number of columns, so that one visit stored what it does not own.
// sagen: --row 6 --tile i=2,k=1
// sagen: --row 6 --tile i=2,k=1 --ports shared
void kernel(float x0[4][5], const float u1[11], float x2[2][4]) {
#pragma scop
  for (int i = 1; i < 2; i++) {
    for (int j = 1; j < 3; j++) {
      x0[i][j] = 0;
      for (int k = 1; k < 4; k++)
        x0[i][j] += u1[2 * k];
    }
    for (int j = 0; j < 1; j++)
      x2[j][i] = 0;
  }
#pragma endscop
}
