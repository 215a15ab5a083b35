// C += A * B: the products are added to what C holds already. The arrays are globals.
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 48
#endif
#ifndef NK
#define NK 24
#endif

short A[NI][NK], B[NK][NJ];
int C[NI][NJ];

void gemm(void) {
#pragma scop
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++)
      for (int k = 0; k < NK; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}
