// One array, read and written in place.
#include <stdint.h>
void one(int32_t x[40]) {
#pragma scop
    for (int i = 0; i < 40; i++)
        x[i] = 3 * x[i] + 1;
#pragma endscop
}
