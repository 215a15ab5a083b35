// Three generations of the Game of Life, each copied back.
// sagen:
void life(unsigned char a[10][10], unsigned char b[10][10]) {
#pragma scop
  for (int t = 0; t < 3; t++) {
    for (int i = 1; i < 9; i++)
      for (int j = 1; j < 9; j++) {
        int n = 0;
        for (int p = -1; p <= 1; p++)
          for (int q = -1; q <= 1; q++)
            if (p != 0 || q != 0)
              n += a[i + p][j + q];
        b[i][j] = (n == 3 || (n == 2 && a[i][j])) ? 1 : 0;
      }
    for (int i = 1; i < 9; i++)
      for (int j = 1; j < 9; j++)
        a[i][j] = b[i][j];
  }
#pragma endscop
}
