// All 53 convolutions of ResNet-50 on one IP: channels, image and kernel come at run time, a function for each stride, and one
// for the first layer. Channels last, int8 inputs and weights, sums of 32 bits; images come with their borders.
//   sagen rtl examples/networks/resnet.c --design examples/networks/resnet.toml --board u250 -o out/resnet
//   sagen predict out/resnet/conv co=256 ci=64 h=56 w=56 r=1
//   sagen sim examples/networks/resnet.c -DCHANNELS=8 -DSIDE=8 --design examples/networks/resnet.toml --size co=3,ci=5,h=4,w=1,r=2
// VGG-16's are on it with -DCHANNELS=512 -DSIDE=224. docs/results/sizes.md has the cycles of each layer.
// sagen: -DCHANNELS=9 -DSIDE=6 --design examples/networks/resnet.toml --function conv --size co=3,ci=5,h=4,w=1,r=2 --size co=9,ci=9,h=6,w=6,r=3
// sagen: -DCHANNELS=9 -DSIDE=6 --design examples/networks/resnet.toml --function conv_by_2 --size co=9,ci=4,h=3,w=3,r=3 --size co=1,ci=1,h=2,w=3,r=1
#include <stdint.h>

#ifndef CHANNELS
#define CHANNELS 2048
#define SIDE 56
#endif

#pragma sagen max(co=CHANNELS, ci=CHANNELS, h=SIDE, w=SIDE, r=3)
void conv(int co, int ci, int h, int w, int r, const int8_t x[h + r - 1][w + r - 1][ci], const int8_t k[r][r][ci][co], int32_t y[h][w][co]) {
#pragma scop
  for (int o = 0; o < co; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        int32_t sum = 0;
        for (int p = 0; p < r; p++)
          for (int q = 0; q < r; q++)
            for (int c = 0; c < ci; c++)
              sum += x[i + p][j + q][c] * k[p][q][c][o];
        y[i][j][o] = sum;
      }
#pragma endscop
}

#pragma sagen max(co=CHANNELS, ci=CHANNELS / 2, h=SIDE / 2, w=SIDE / 2, r=3)
void conv_by_2(int co, int ci, int h, int w, int r, const int8_t x[2 * h + r - 2][2 * w + r - 2][ci], const int8_t k[r][r][ci][co], int32_t y[h][w][co]) {
#pragma scop
  for (int o = 0; o < co; o++)
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        int32_t sum = 0;
        for (int p = 0; p < r; p++)
          for (int q = 0; q < r; q++)
            for (int c = 0; c < ci; c++)
              sum += x[2 * i + p][2 * j + q][c] * k[p][q][c][o];
        y[i][j][o] = sum;
      }
#pragma endscop
}

// The first layer: 7 x 7 over the three colours.
void conv_7x7(const int8_t x[4 * SIDE + 5][4 * SIDE + 5][3], const int8_t k[64][7][7][3], int32_t y[2 * SIDE][2 * SIDE][64]) {
#pragma scop
  for (int o = 0; o < 64; o++)
    for (int i = 0; i < 2 * SIDE; i++)
      for (int j = 0; j < 2 * SIDE; j++) {
        int32_t sum = 0;
        for (int p = 0; p < 7; p++)
          for (int q = 0; q < 7; q++)
            for (int c = 0; c < 3; c++)
              sum += x[2 * i + p][2 * j + q][c] * k[o][p][q][c];
        y[i][j][o] = sum;
      }
#pragma endscop
}
