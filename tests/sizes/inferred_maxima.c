// The extents of the arrays give the maxima of the sizes.
// sagen: --size ni=1,nj=1,nk=1 --size ni=6,nj=7,nk=8 --size ni=3,nj=5,nk=2
#define NI 6
#define NJ 7
#define NK 8
void kernel_gemm(int ni, int nj, int nk, int alpha, int beta, int C[NI][NJ], int A[NI][NK], int B[NK][NJ])
{
  int i, j, k;
#pragma scop
  for (i = 0; i < ni; i++) {
    for (j = 0; j < nj; j++)
      C[i][j] *= beta;
    for (k = 0; k < nk; k++)
      for (j = 0; j < nj; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
  }
#pragma endscop
}
