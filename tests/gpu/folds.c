// Sums, minima and maxima over all PEs of a warp, and what follows them.
// sagen: --function dot
// sagen: --function dot --space i
// sagen: --function dot --space i -D LENGTH=100 -D FIRST=0
// sagen: --function dot --space i --tile i=32 -D LENGTH=3001
// sagen: --function dot --space i --tile i=1000 -D T=char -D S=short
// sagen: --function dot --space i -D T=long -D S=long
// sagen: --function rows
// sagen: --function rows --space j --time i
// sagen: --function rows --space j --time i -D S=short -D T=char
// sagen: --function bits --space j --time i
// sagen: --function wedge --space j --time i
// sagen: --function wedge --space i --time j
// sagen: --function beside --space j --time i
// sagen: --function largest --space i --time k
// sagen: --function inplace --space j --time i
// sagen: --function last --space j
// sagen: --function last --space j --sanitize address
// sagen: --function windows --space t,n
// sagen: --function windows --space t,n --tile t=11 -D LENGTH=493
#ifndef LENGTH
#define LENGTH 10007
#endif
#ifndef FIRST
#define FIRST 5
#endif
#ifndef T
#define T short
#endif
#ifndef S
#define S int
#endif
enum { M = 37, N = 200 };
// Longer than a warp: time is the strip. Two results, one of them a maximum.
void dot(const T x[LENGTH], const T y[LENGTH], S sum[1], T most[1]) {
#pragma scop
  for (int i = FIRST; i < LENGTH; i++) {
    sum[0] += x[i] * y[i];
    most[0] = most[0] > x[i] ? most[0] : x[i];
  }
#pragma endscop
}
// A warp for each row; statements that follow, one of them by way of another; two ranges.
void rows(const T x[M][N], S sum[M], S product[M], S mean[M], S next[M]) {
#pragma scop
  for (int i = 0; i < M; i++) {
    sum[i] = 0;
    for (int j = 0; j < N; j++)
      sum[i] += x[i][j] > 5 ? x[i][j] : 1;
    product[i] = 3;
    for (int j = 3; j < N - 9; j++)
      product[i] *= x[i][j];
    mean[i] = (sum[i] - product[i]) / N + x[i][7];
    next[i] = mean[i] * 3;
  }
#pragma endscop
}
void bits(const unsigned short x[M][N], unsigned short all[M], unsigned short some[M], unsigned short odd[M], short low[M]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      all[i] &= x[i][j] | 0xff00;
      some[i] |= x[i][j] & 0x0ff0;
      odd[i] ^= x[i][j];
      low[i] -= x[i][j];
    }
#pragma endscop
}
// Over both loops, in a part of the rectangle.
void wedge(const int x[M][N], int out[1]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      if (i + j < 100)
        out[0] = out[0] < x[i][j] ? out[0] : x[i][j];
#pragma endscop
}
// A sum in each step of a loop that another statement needs.
void beside(const int x[M][N], int s[M], int p[M]) {
#pragma scop
  for (int i = 0; i < M; i++) {
    s[i] = 0;
    for (int j = 0; j < N; j++)
      s[i] += x[i][j];
  }
  p[0] = 1;
  for (int i = 1; i < M; i++)
    p[i] = p[i - 1] * 3 + x[i][0];
#pragma endscop
}
// The largest of values that the PEs compute.
void largest(const int x[N + 4], const int w[5], int out[N], int most[1]) {
  int t[N];
#pragma scop
  for (int i = 0; i < N; i++) {
    t[i] = 0;
    for (int k = 0; k < 5; k++)
      t[i] += x[i + k] * w[k];
    out[i] = t[i];
    most[0] = most[0] > t[i] ? most[0] : t[i];
  }
#pragma endscop
}
void inplace(int x[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 1; j < N; j++)
      x[i][0] += x[i][j];
#pragma endscop
}
// One element of an array that the others do not have.
void last(const int x[N], const int z[N], int y[N], int s[1]) {
#pragma scop
  s[0] = 0;
  for (int j = 0; j < N; j++) {
    s[0] += x[j];
    if (j == N - 1)
      y[j] = s[0];
    else
      y[j] = z[j];
  }
#pragma endscop
}

// Every PE has a term of each sum, those at the ends of the warp too: what they read beside others is read again.
void windows(const T x[LENGTH + 5], const T w[LENGTH], S y[5]) {
#pragma scop
  for (int n = 0; n < 5; n++) {
    y[n] = 0;
    for (int t = 0; t < LENGTH; t++)
      y[n] += x[n + t] * w[t];
  }
#pragma endscop
}
