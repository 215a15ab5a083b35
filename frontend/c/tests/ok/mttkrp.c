// MTTKRP and TTMc on globals, region at file level.
typedef unsigned char u8;
enum { I = 3, J = 4, K = 5, L = 2 };
u8 A[I][K][L];
signed char B[K][J], D[L][J];
int out[I][J];
unsigned long sum[I];
#pragma scop
for (int i = 0; i < I; i++) {
  sum[i] = 0;
  for (int j = 0; j < J; j++)
    for (int k = 0; k < K; k++)
      for (int l = 0; l < L; l++) {
        out[i][j] += A[i][k][l] * B[k][j] * D[l][j];
        sum[i] ^= (unsigned long)out[i][j] << l;
      }
}
#pragma endscop
