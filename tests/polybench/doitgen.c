// doitgen: every row of a tensor times a matrix, in place (multiresolution analysis).
#ifndef NQ
#define NQ 8
#endif
#ifndef NR
#define NR 10
#endif
#ifndef NP
#define NP 12
#endif

void kernel_doitgen(float A[NR][NQ][NP], float C4[NP][NP], float sum[NP]) {
#pragma scop
  for (int r = 0; r < NR; r++)
    for (int q = 0; q < NQ; q++) {
      for (int p = 0; p < NP; p++) {
        sum[p] = 0.0f;
        for (int s = 0; s < NP; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < NP; p++)
        A[r][q][p] = sum[p];
    }
#pragma endscop
}
