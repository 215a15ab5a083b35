// Batch normalization: mean, variance, normalized values.
#include <math.h>
#define B 6
#define C 4
#define W 10
void batchnorm(const float x[B][C][W], const float g[C], const float be[C], float y[B][C][W]) {
  float mean[C], var[C];
#pragma scop
  for (int c = 0; c < C; c++) {
    mean[c] = 0.0f;
    for (int b = 0; b < B; b++)
      for (int w = 0; w < W; w++) mean[c] += x[b][c][w];
    mean[c] /= B * W;
    var[c] = 0.0f;
    for (int b = 0; b < B; b++)
      for (int w = 0; w < W; w++) var[c] += (x[b][c][w] - mean[c]) * (x[b][c][w] - mean[c]);
    var[c] /= B * W;
    for (int b = 0; b < B; b++)
      for (int w = 0; w < W; w++) y[b][c][w] = g[c] * (x[b][c][w] - mean[c]) / sqrtf(var[c] + 1e-5f) + be[c];
  }
#pragma endscop
}
