// A product with a band matrix: strips begin and end with their rows. Sums in free order end elsewhere in every strip.
// sagen: --strip i=4 --space i,j --tile i=4,j=2
// sagen: --strip i=5 --space i --tile i=3
// sagen: --strip i=6 --space j --simd i=2
// sagen: --strip i=3 --space j --memory ideal:100
// sagen:
#include <stdint.h>
void kernel(const int8_t A[23][23], const int8_t B[23][6], int32_t C[23][6]) {
#pragma scop
  for (int i = 3; i < 20; i++)
    for (int j = 0; j < 6; j++) {
      C[i][j] = 0;
      for (int k = i - 3; k <= i + 3; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
