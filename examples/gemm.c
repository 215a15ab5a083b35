// C += A * B: the products are added to what C holds already. The arrays are globals.
#define NI 32
#define NJ 48
#define NK 24

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
