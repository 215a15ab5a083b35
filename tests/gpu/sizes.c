// Sizes at run time: kernels of all classes. Each is compared at sizes of 1, at small ones, and at larger ones.
// sagen: --function window --space c,p --time r+p,q
// sagen: --function window --space c,p --time r+p,q --size H=37,W=301,L=2 --sanitize address
// sagen: --function window
// sagen: --function words --space c,p --time r+p,q
// sagen: --function taps --space c --time q
// sagen: --function taps --space c+q --time q
// sagen: --function depthwise
// sagen: --function depthwise --size B=1,C=2,N=1 --size B=3,C=1,N=257 --sanitize address
// sagen: --function sweeps --space j,t --time i+t
// sagen: --function sweeps --fp-contract --size N=17,M=700 --size N=2,M=2 --sanitize address
// sagen: --function sweeps --space j,t --time i+2*t
// sagen: --function levenshtein --space j --time k,i
// sagen: --function levenshtein -D T=int16_t
// sagen: --function levenshtein -D T=int16_t --size PAIRS=1,N=1,M=1 --size PAIRS=7,N=30,M=60 --size PAIRS=4,N=9,M=1
// sagen: --function product --space j,i --time k
// sagen: --function product -D T=float --fp-contract
// sagen: --function product --size M=1,N=1000,K=1 --size M=130,N=70,K=65 --sanitize address
// sagen: --function dot
// sagen: --function dot --space i --tile i=64
// sagen: --function dot --space i --size N=1 --size N=63 --size N=64 --size N=65 --sanitize address
// sagen: --function centred
// sagen: --function relaxed
// sagen: --function relaxed --size STEPS=1,N=1 --size STEPS=5,N=256 --sanitize address
// sagen: --function behind --space j --time i
#include <stdint.h>
#ifndef T
#define T int32_t
#endif
#ifndef S
#define S 3
#endif

// A 2-D window, and a result that depends on sizes.
#pragma sagen max(H=60, W=500, L=3)
void window(int H, int W, const float x[H + 2][W + 2], const float w[3][3], int L, float out[H][W]) {
#pragma scop
  for (int r = 0; r < H; r++)
    for (int c = 0; c < W; c++) {
      out[r][c] = L + r;
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
          out[r][c] += x[r + p][c + q] * w[p][q];
    }
#pragma endscop
}

// Rows of whole words.
#pragma sagen max(H=60, W=125)
void words(int H, int W, const float x[H + 2][4 * W + 4], const float w[3][3], float out[H][4 * W]) {
#pragma scop
  for (int r = 0; r < H; r++)
    for (int c = 0; c < 4 * W; c++) {
      out[r][c] = 0;
      for (int p = 0; p < 3; p++)
        for (int q = 0; q < 3; q++)
          out[r][c] += x[r + p][c + q] * w[p][q];
    }
#pragma endscop
}

// The number of taps is a size, too.
#pragma sagen max(N=3000, Q=7)
void taps(int N, int Q, const float x[N + Q - 1], const float w[Q], float out[N]) {
#pragma scop
  for (int c = 0; c < N; c++) {
    out[c] = 0;
    for (int q = 0; q < Q; q++)
      out[c] += x[c + q] * w[q];
  }
#pragma endscop
}

#pragma sagen max(B=3, C=5, N=700)
void depthwise(int B, int C, int N, const float x[B][C][2 * N + 2], const float w[C][4], float out[B][C][N]) {
#pragma scop
  for (int b = 0; b < B; b++)
    for (int c = 0; c < C; c++)
      for (int n = 0; n < N; n++) {
        out[b][c][n] = 0;
        for (int q = 0; q < 4; q++)
          out[b][c][n] += x[b][c][2 * n + q] * w[c][q];
      }
#pragma endscop
}

#pragma sagen max(N=60, M=800)
void sweeps(int N, int M, const float from[N][M], float to[N][M]) {
  float u[S + 1][N][M];
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      u[0][i][j] = from[i][j];
  for (int t = 1; t <= S; t++)
    for (int i = 0; i < N; i++)
      for (int j = 0; j < M; j++)
        if (i == 0 || i == N - 1 || j == 0 || j == M - 1)
          u[t][i][j] = u[t - 1][i][j];
        else
          u[t][i][j] = 0.25f * u[t - 1][i][j] +
                       0.2f * (u[t - 1][i - 1][j] + u[t - 1][i][j - 1] + u[t - 1][i][j + 1] + u[t - 1][i + 1][j]);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++)
      to[i][j] = u[S][i][j];
#pragma endscop
}

#pragma sagen max(PAIRS=9, N=40, M=96)
void levenshtein(int PAIRS, int N, int M, const uint8_t a[PAIRS][N], const uint8_t b[PAIRS][M], T distance[PAIRS]) {
  T D[N + 1][M + 1];
#pragma scop
  for (int k = 0; k < PAIRS; k++) {
    for (int i = 0; i <= N; i++)
      for (int j = 0; j <= M; j++) {
        if (i == 0)
          D[i][j] = j;
        else if (j == 0)
          D[i][j] = i;
        else {
          T change = D[i - 1][j - 1] + (a[k][i - 1] != b[k][j - 1]);
          T gap = (D[i - 1][j] < D[i][j - 1] ? D[i - 1][j] : D[i][j - 1]) + 1;
          D[i][j] = change < gap ? change : gap;
        }
      }
    distance[k] = D[N][M];
  }
#pragma endscop
}

#pragma sagen max(M=150, N=1000, K=70)
void product(int M, int N, int K, const T A[M][K], const T B[K][N], T C[M][N]) {
#pragma scop
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < K; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}

// A sum over all PEs, and what follows it.
#pragma sagen max(N=1000)
void dot(int N, const T x[N], const T y[N], T sum[1], T mean[1]) {
#pragma scop
  sum[0] = 0;
  for (int i = 0; i < N; i++)
    sum[0] += x[i] * y[i];
  mean[0] = sum[0] / N;
#pragma endscop
}

// Phases.
#pragma sagen max(M=40, N=90)
void centred(int M, int N, const float x[M][N], float out[M][N]) {
  float mean[N];
#pragma scop
  for (int j = 0; j < N; j++) {
    mean[j] = 0;
    for (int i = 0; i < M; i++)
      mean[j] += x[i][j];
    mean[j] = mean[j] / M;
  }
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++)
      out[i][j] = x[i][j] - mean[j];
#pragma endscop
}

// The number of phases is a size.
#pragma sagen max(STEPS=5, N=300)
void relaxed(int STEPS, int N, T x[N]) {
  T y[N];
#pragma scop
  for (int t = 0; t < STEPS; t++) {
    for (int i = 0; i < N; i++)
      y[i] = x[N - 1 - i] + t;
    for (int i = 0; i < N; i++)
      x[i] = y[i] + y[N - 1 - i];
  }
#pragma endscop
}

// The last row alone is stored.
#pragma sagen max(M=50, N=300)
void behind(int M, int N, const float x[M][N], float out[N]) {
#pragma scop
  for (int j = 0; j < N; j++) {
    float s = 0;
    for (int i = 0; i < M; i++)
      s = 0.5f * s + x[i][j];
    out[j] = s;
  }
#pragma endscop
}
