// sagen: --size n=1 --size n=2 --size n=3 --size n=4
// One iteration is left out: what is behind it happens at the greatest size alone.
#include <stdint.h>
#pragma sagen max(n=4)
void skipped(int n, int32_t a[n + 4], int32_t b[n + 4], const int32_t c[n + 4])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        b[i + 2] = a[i + 1];
        if (i != 2)
            a[i + 2] = c[i + 1];
    }
#pragma endscop
}
