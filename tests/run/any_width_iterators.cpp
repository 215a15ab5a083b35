// Loops that integers of any width count: sums and products of them do not wrap around, shifted values keep their width.
#include "ap_int.h"
void f(const int a[17][16], const short b[64], int c[16][16], int d[32],
       int e[15][17]) {
#pragma scop
  for (ap_uint<5> i = 0; i < 16; i++)
    for (ap_int<6> j = 15; j >= 0; --j) {
      ap_uint<4> t = i + 3 * j;
      c[i][j] = a[j][i] + b[4 * i + (j >> 2)] * (i * j - 40) + t + i[0] + (-i) + (ap_uint<2>)i;
    }
  ap_uint<6> k;
  for (k = 2; k < 32; k += 2)
    d[k] = a[k / 2][3] + (k << 1) * (k - 40);
  for (ap_uint<4> row = 0; row < 15; row += 3)
    for (ap_uint<5> column = row; column <= 16; column++)
      e[row][column - row] = a[column][3] * column;
#pragma endscop
}
