// Both gradients are stored, and read in windows: computed again at each window they would be stored from everywhere.
void harris(const float im[9][10], float Ix[9][10], float Iy[9][10], float R[9][10]) {
#pragma scop
  for (int y = 1; y < 8; y++)
    for (int x = 1; x < 9; x++) {
      Ix[y][x] = im[y][x + 1] - im[y][x - 1];
      Iy[y][x] = im[y + 1][x] - im[y - 1][x];
    }
  for (int y = 2; y < 7; y++)
    for (int x = 2; x < 8; x++) {
      float b = 0;
      for (int p = -1; p <= 1; p++)
        for (int q = -1; q <= 1; q++)
          b += Ix[y + p][x + q] * Iy[y + p][x + q];
      R[y][x] = b;
    }
#pragma endscop
}
