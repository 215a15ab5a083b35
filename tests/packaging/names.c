// Names that collide with registers, keywords and one another.
#include <stdint.h>
void names(int32_t cycles[8], int32_t CTRL[8], int32_t A[8], int32_t A_1[8], int32_t a[8], int32_t wire_[8], int32_t lambda[8], int32_t in[8], int32_t proc[8], int32_t class[8], int32_t out[8]) {
#pragma scop
    for (int i = 0; i < 8; i++)
        out[i] = cycles[i] + CTRL[i] * A[i] - A_1[i] + a[i] * wire_[i] + lambda[i] + in[i] * proc[i] - class[i];
#pragma endscop
}
