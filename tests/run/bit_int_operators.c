// Every operator on `_BitInt`: no promotion to `int`, the wider operand decides, the padding of memory does not matter.
#include <stdint.h>
#define N 40
void ops(const _BitInt(5) a[N], const unsigned _BitInt(7) b[N], const _BitInt(40) c[N], const unsigned _BitInt(64) d[N], _BitInt(8) k,
         _BitInt(5) r0[N], unsigned _BitInt(7) r1[N], int r2[N], _BitInt(40) r3[N], unsigned _BitInt(64) r4[N], _BitInt(8) r5[N], int64_t r6[N], float r7[N], _BitInt(16) r8[N]) {
  const unsigned _BitInt(3) t[4] = {1, 3, 5, 7};
#pragma scop
  for (int i = 0; i < N; i++) {
    r0[i] = a[i] + a[i];
    r1[i] = b[i] * 3uwb - a[i];
    r2[i] = (a[i] < b[i]) + (a[i] > 3u) * 2 + (-a[i] < 0) * 4 + (c[i] < 7u) * 8 + (a[i] == b[i]) * 16;
    r3[i] = c[i] / (b[i] + 1uwb == 0uwb ? 1uwb : b[i] + 1uwb) + ~c[i] % 17wb;
    r4[i] = d[i] / 3 + (d[i] >> 5) * b[i] + (unsigned _BitInt(64))c[i];
    r5[i] = (a[i] > 0wb ? k + k : (_BitInt(8))a[i]) ^ (_BitInt(8))t[b[i] & 3uwb];
    r6[i] = (c[i] << 7) + a[i] * 3;
    r7[i] = (float)c[i] + a[i];
    r8[i] = k; r8[i] += a[i] << 2; r8[i] <<= 3; r8[i] -= 0x7fwb;
  }
#pragma endscop
}
