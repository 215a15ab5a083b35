// A triangular product in place: strips begin where their first row does, and overwrite nothing that others have yet to read.
// sagen: --strip i=3 --space i,j --tile j=3
// sagen: --strip i=3 --space j --tile j=5 --memory ddr
// sagen: --strip i=7 --space j --tile j=4
// sagen:
void kernel(float alpha, const float A[13][13], float B[13][11]) {
#pragma scop
  for (int i = 0; i < 13; i++)
    for (int j = 0; j < 11; j++) {
      for (int k = i + 1; k < 13; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] = alpha * B[i][j];
    }
#pragma endscop
}
