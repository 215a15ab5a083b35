// fdtd-2d: electric and magnetic field on a grid by finite differences in time.
#ifndef TMAX
#define TMAX 20
#endif
#ifndef NX
#define NX 20
#endif
#ifndef NY
#define NY 30
#endif

void kernel_fdtd_2d(float ex[NX][NY], float ey[NX][NY], float hz[NX][NY], float _fict_[TMAX]) {
#pragma scop
  for (int t = 0; t < TMAX; t++) {
    for (int j = 0; j < NY; j++)
      ey[0][j] = _fict_[t];
    for (int i = 1; i < NX; i++)
      for (int j = 0; j < NY; j++)
        ey[i][j] = ey[i][j] - 0.5f * (hz[i][j] - hz[i - 1][j]);
    for (int i = 0; i < NX; i++)
      for (int j = 1; j < NY; j++)
        ex[i][j] = ex[i][j] - 0.5f * (hz[i][j] - hz[i][j - 1]);
    for (int i = 0; i < NX - 1; i++)
      for (int j = 0; j < NY - 1; j++)
        hz[i][j] = hz[i][j] - 0.7f * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
  }
#pragma endscop
}
