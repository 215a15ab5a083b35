// Element types: wrap-around, sign extension, promotion.
// sagen: -D IN=int8_t -D OUT=int32_t
// sagen: -D IN=uint8_t -D OUT=int32_t --space i,j --latency i=1
// sagen: -D IN=uint8_t -D OUT=uint16_t --space i,k --latency i=1
// sagen: -D IN=int16_t -D OUT=int64_t --space i,j --tile i=3,j=3
// sagen: -D IN=uint16_t -D OUT=int32_t --space i,j --latency i=1
// sagen: -D IN=int32_t -D OUT=int32_t --space i,j --latency i=1
// sagen: -D IN=uint32_t -D OUT=uint64_t --space j,k --latency j=1
// sagen: -D IN=int64_t -D OUT=int64_t --space i,j --latency i=1
// sagen: -D IN=int8_t -D OUT=int8_t --space i --latency i=1
#include <stdint.h>

void mm_types(const IN A[9][10], const IN B[10][6], OUT C[9][6]) {
#pragma scop
  for (int i = 0; i < 9; ++i)
    for (int j = 0; j < 6; ++j) {
      OUT sum = 0;
      for (int k = 0; k < 10; ++k)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
