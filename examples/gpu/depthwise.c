// A depthwise convolution along time, as in audio and state-space models: each of 1536 channels has 4 taps of its own.
// The caller pads x by 3 samples in front.
// sagen: -D B=2 -D C=5 -D L=333
#ifndef B
#define B 8
#define C 1536
#define L 2048
#endif
#define TAPS 4
void depthwise(const float x[B][C][L + TAPS - 1], const float w[C][TAPS], float y[B][C][L]) {
#pragma scop
  for (int b = 0; b < B; b++)
    for (int c = 0; c < C; c++)
      for (int l = 0; l < L; l++) {
        y[b][c][l] = 0;
        for (int q = 0; q < TAPS; q++)
          y[b][c][l] += x[b][c][l + q] * w[c][q];
      }
#pragma endscop
}
