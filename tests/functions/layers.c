// Layers of one form and of unlike extents: with equal tiles their arrays have one PE, the same I/O groups, and engines with
// tables of steps by function. `quarter` has no loop over tiles of some of the others; the tiles of `odd` end behind its arrays.
// sagen: --merge --space r,i --order o,r,c,i,p,q --tile o=4,r=2,c=2,i=4 --simd o=2 --word X=4,W=4,Y=4 --sequence 12
// sagen: --merge --space r,i --order o,r,c,i,p,q --tile o=4,r=2,c=2,i=4,p=1 --simd o=2 --word X=4,W=4,Y=1 --sequence 8 --memory ddr
// sagen: --merge --space o,r --order c,o,r,i,p,q --tile o=2,r=2,c=2,i=2 --word X=4,W=8,Y=2 --sequence 8 --guard --memory ideal
// sagen: --merge --function quarter,wide --limit lut=40000 --sequence 6
#include <stdint.h>
void quarter(const int8_t X[4][4][4], const int8_t W[4][3][3][4], int32_t Y[2][2][4]) {
#pragma scop
  for (int o = 0; o < 4; o++)
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 2; c++) {
        Y[r][c][o] = 0;
        for (int i = 0; i < 4; i++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              Y[r][c][o] += X[r + p][c + q][i] * W[o][p][q][i];
      }
#pragma endscop
}
void wide(const int8_t X[6][6][8], const int8_t W[8][3][3][8], int32_t Y[4][4][8]) {
#pragma scop
  for (int o = 0; o < 8; o++)
    for (int r = 0; r < 4; r++)
      for (int c = 0; c < 4; c++) {
        Y[r][c][o] = 0;
        for (int i = 0; i < 8; i++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              Y[r][c][o] += X[r + p][c + q][i] * W[o][p][q][i];
      }
#pragma endscop
}
void flat(const int8_t X[10][10][8], const int8_t W[16][3][3][8], int32_t Y[8][8][16]) {
#pragma scop
  for (int o = 0; o < 16; o++)
    for (int r = 0; r < 8; r++)
      for (int c = 0; c < 8; c++) {
        Y[r][c][o] = 0;
        for (int i = 0; i < 8; i++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              Y[r][c][o] += X[r + p][c + q][i] * W[o][p][q][i];
      }
#pragma endscop
}
void deep(const int8_t X[4][4][16], const int8_t W[4][3][3][16], int32_t Y[2][2][4]) {
#pragma scop
  for (int o = 0; o < 4; o++)
    for (int r = 0; r < 2; r++)
      for (int c = 0; c < 2; c++) {
        Y[r][c][o] = 0;
        for (int i = 0; i < 16; i++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              Y[r][c][o] += X[r + p][c + q][i] * W[o][p][q][i];
      }
#pragma endscop
}
void odd(const int8_t X[5][5][8], const int8_t W[5][3][3][8], int32_t Y[3][3][5]) {
#pragma scop
  for (int o = 0; o < 5; o++)
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 3; c++) {
        Y[r][c][o] = 0;
        for (int i = 0; i < 8; i++)
          for (int p = 0; p < 3; p++)
            for (int q = 0; q < 3; q++)
              Y[r][c][o] += X[r + p][c + q][i] * W[o][p][q][i];
      }
#pragma endscop
}
