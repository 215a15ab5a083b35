// sagen: --size h=1,w=1,c=1 --size h=2,w=4,c=3 --size h=4,w=3,c=2
// Two convolutions and a pooling, of any height, width and number of channels.
#include <stdint.h>
#pragma sagen max(h=4, w=4, c=3)
void net(int h, int w, int c, const int8_t x[c][2*h+4][2*w+4], const int8_t w1[4][c][3][3], const int8_t w2[6][4][3][3], int32_t out[6][h][w]) {
  int8_t t[4][10][10];
  int32_t u[6][8][8];
#pragma scop
  for (int o = 0; o < 4; o++) for (int i = 0; i < 2*h+2; i++) for (int j = 0; j < 2*w+2; j++) {
    int32_t s = 0;
    for (int z = 0; z < c; z++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) s += x[z][i+p][j+q] * w1[o][z][p][q];
    t[o][i][j] = s < 0 ? 0 : s >> 8;
  }
  for (int o = 0; o < 6; o++) for (int i = 0; i < 2*h; i++) for (int j = 0; j < 2*w; j++) {
    int32_t s = 0;
    for (int z = 0; z < 4; z++) for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) s += t[z][i+p][j+q] * w2[o][z][p][q];
    u[o][i][j] = s < 0 ? 0 : s;
  }
  for (int o = 0; o < 6; o++) for (int i = 0; i < h; i++) for (int j = 0; j < w; j++) {
    int32_t a = u[o][2*i][2*j] > u[o][2*i][2*j+1] ? u[o][2*i][2*j] : u[o][2*i][2*j+1];
    int32_t b = u[o][2*i+1][2*j] > u[o][2*i+1][2*j+1] ? u[o][2*i+1][2*j] : u[o][2*i+1][2*j+1];
    out[o][i][j] = a > b ? a : b;
  }
#pragma endscop
}
