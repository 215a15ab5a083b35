// A seven-point star in three dimensions, one sweep and two.
// sagen: --function once --space k --time i,j --tile j=4
// sagen: --function twice --space k,t --time i+t,j --tile j=4
#ifndef NX
#define NX 20
#define NY 18
#define NZ 45
#endif
enum { S = 2 };
void once(const float a[NX][NY][NZ], float b[NX][NY][NZ]) {
#pragma scop
  for (int i = 1; i < NX - 1; i++)
    for (int j = 1; j < NY - 1; j++)
      for (int k = 1; k < NZ - 1; k++)
        b[i][j][k] = 0.4f * a[i][j][k] + 0.1f * (a[i - 1][j][k] + a[i + 1][j][k] + a[i][j - 1][k] + a[i][j + 1][k] +
                                                 a[i][j][k - 1] + a[i][j][k + 1]);
#pragma endscop
}
void twice(const float a[NX][NY][NZ], float b[NX][NY][NZ]) {
  float u[S + 1][NX][NY][NZ];
#pragma scop
  for (int i = 0; i < NX; i++)
    for (int j = 0; j < NY; j++)
      for (int k = 0; k < NZ; k++)
        u[0][i][j][k] = a[i][j][k];
  for (int t = 1; t <= S; t++)
    for (int i = 0; i < NX; i++)
      for (int j = 0; j < NY; j++)
        for (int k = 0; k < NZ; k++)
          if (i == 0 || i == NX - 1 || j == 0 || j == NY - 1 || k == 0 || k == NZ - 1)
            u[t][i][j][k] = u[t - 1][i][j][k];
          else
            u[t][i][j][k] = 0.4f * u[t - 1][i][j][k] +
                            0.1f * (u[t - 1][i - 1][j][k] + u[t - 1][i + 1][j][k] + u[t - 1][i][j - 1][k] +
                                    u[t - 1][i][j + 1][k] + u[t - 1][i][j][k - 1] + u[t - 1][i][j][k + 1]);
  for (int i = 0; i < NX; i++)
    for (int j = 0; j < NY; j++)
      for (int k = 0; k < NZ; k++)
        b[i][j][k] = u[S][i][j][k];
#pragma endscop
}
