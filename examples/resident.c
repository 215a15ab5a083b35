// A matrix that stays on chip: `load` fills it, `mul` uses it as often as it is called.
//   sagen rtl --board zcu104 examples/resident.c --merge --keep W
#define N 64

static short W[N][N];

void load(const short A[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      W[i][j] = A[i][j];
#pragma endscop
}

void mul(const short x[N], int y[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    int sum = 0;
    for (int j = 0; j < N; j++)
      sum += W[i][j] * x[j];
    y[i] = sum;
  }
#pragma endscop
}
