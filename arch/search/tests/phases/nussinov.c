// Secondary structures of RNA: intervals from those inside of them, in all ways to split one.
void nussinov(int seq[9], int table[9][9]) {
#pragma scop
  for (int i = 8; i >= 0; i--)
    for (int j = i + 1; j < 9; j++) {
      if (j - 1 >= 0)
        table[i][j] = table[i][j] >= table[i][j - 1] ? table[i][j] : table[i][j - 1];
      if (i + 1 < 9)
        table[i][j] = table[i][j] >= table[i + 1][j] ? table[i][j] : table[i + 1][j];
      if (j - 1 >= 0 && i + 1 < 9) {
        if (i < j - 1)
          table[i][j] = table[i][j] >= table[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0) ? table[i][j] : table[i + 1][j - 1] + (seq[i] + seq[j] == 3 ? 1 : 0);
        else
          table[i][j] = table[i][j] >= table[i + 1][j - 1] ? table[i][j] : table[i + 1][j - 1];
      }
      for (int k = i + 1; k < j; k++)
        table[i][j] = table[i][j] >= table[i][k] + table[k + 1][j] ? table[i][j] : table[i][k] + table[k + 1][j];
    }
#pragma endscop
}
