// A table of 256 looked up by data, one of 300 by iterators, both in one statement; floats from a table; a clamped index.
#include <stdint.h>
#define N 20
static const uint8_t gamma_[256] = { 0, 15, 22, 27, 31, 35, 39, 42, 45, 47, 50, 52, 55, 57, 59, 61, 63, 65, 67, 69, 71, 73, 74, 76, 78, 79, 81, 82, 84, 85, 87, 88, 90, 91, 93, 94, 95, 97, 98, 99, 100, 102, 103, 104, 105, 107, 108, 109, 110, 111, 112, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137, 138, 139, 140, 141, 141, 142, 143, 144, 145, 146, 147, 148, 148, 149, 150, 151, 152, 153, 153, 154, 155, 156, 157, 158, 158 };
static const float w[5] = { 0.5f, -1.25f, 3.0f, 7.5f, -0.0f };
void f(const uint8_t x[N], const int16_t s[N], uint8_t y[N], float z[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    y[i] = gamma_[x[i]] ^ gamma_[(i * 7) & 255 ? i * 7 : 0];
    int k = s[i] < 0 ? 0 : s[i];
    z[i] = w[k > 4 ? 4 : k] + w[s[i] & 3];
  }
#pragma endscop
}
