// sagen: --space i,j --tile i=4,j=4,k=4
// sagen: --space j --tile j=4 --reassociate
// sagen: --ports shared --memory ideal:1
// Scalars by value: registers of every width, before, between and behind the addresses; one that is never used.
#include <stdint.h>
#include <stdbool.h>
#define N 9
void scaled(int8_t shift, const int16_t A[N][N], uint16_t scale, const int16_t B[N][N], int64_t wide, bool negate, int unused, int64_t C[N][N], uint8_t bias, float slope, double offset,
            double D[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] = wide + bias;
      for (int k = 0; k < N; k++) C[i][j] += (negate ? -A[i][k] : A[i][k]) * (B[k][j] + shift) * (int64_t)scale;
    }
  for (int i = 0; i < N; i++) D[i] = offset * i + slope;
#pragma endscop
}
