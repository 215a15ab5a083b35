// Means, deviations, normalization, then all pairs of columns.
#include <math.h>
void correlation(float data[7][5], float corr[5][5], float mean[5], float stddev[5]) {
#pragma scop
  for (int j = 0; j < 5; j++) {
    mean[j] = 0.0f;
    for (int i = 0; i < 7; i++)
      mean[j] += data[i][j];
    mean[j] /= 7.0f;
  }
  for (int j = 0; j < 5; j++) {
    stddev[j] = 0.0f;
    for (int i = 0; i < 7; i++)
      stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] /= 7.0f;
    stddev[j] = sqrtf(stddev[j]);
    stddev[j] = stddev[j] <= 0.1f ? 1.0f : stddev[j];
  }
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < 5; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= 2.5f * stddev[j];
    }
  for (int i = 0; i < 4; i++) {
    corr[i][i] = 1.0f;
    for (int j = i + 1; j < 5; j++) {
      corr[i][j] = 0.0f;
      for (int k = 0; k < 7; k++)
        corr[i][j] += data[k][i] * data[k][j];
      corr[j][i] = corr[i][j];
    }
  }
  corr[4][4] = 1.0f;
#pragma endscop
}
