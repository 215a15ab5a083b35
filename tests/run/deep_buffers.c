// Buffers deep and wide enough for UltraRAM, on a board that has some and on one that has none.
// sagen: --space i --tile i=2 --time j,k --word B=1,C=1
// sagen: --space i --tile i=2 --time j,k --word B=1,C=1 --memory ddr
// sagen: --space i --tile i=2 --time j,k --word B=1,C=1 --board zcu102
void kernel(const double A[2][64], const double B[64][64], double C[64][64]) {
#pragma scop
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 64; j++)
      for (int k = 0; k < 64; k++)
        C[k][j] += A[i][k] * B[k][j];
#pragma endscop
}
