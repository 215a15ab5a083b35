// A region at file level over globals, one of them with contents of its own.
#include <stdint.h>
const int16_t taps[4] = {1, -2, 3, -4};
int16_t signal[24];
int32_t result[21];
#pragma scop
for (int n = 0; n < 21; n++) {
    result[n] = 0;
    for (int k = 0; k < 4; k++)
        result[n] += taps[k] * signal[n + k];
}
#pragma endscop
