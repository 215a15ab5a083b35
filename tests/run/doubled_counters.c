// Loops that multiply, divide and shift their counter: a scan in steps, a reduction by halves, values behind such loops.
#define N 16
typedef unsigned short narrow;
void doubled_counters(int x[N], int y[N], int sum[3], int z[N]) {
#pragma scop
  for (int i = 0; i < N; i++) y[i] = x[i];
  for (int d = 1; d < N; d *= 2) {
    int t[N];
    for (int i = 0; i < N; i++) t[i] = i >= d ? y[i] + y[i - d] : y[i];
    for (int i = 0; i < N; i++) y[i] = t[i];
  }
  int h = N, stages = 0;
  while (h > 1) {
    h >>= 1;
    for (int i = 0; i < h; i++) x[i] += x[i + h];
    stages++;
  }
  sum[0] = x[0];
  sum[1] = stages * 10 + h;
  narrow k;
  for (k = 1; k <= N; k = k << 2)
    if (k > 1)
      for (int i = 0; i + k < N; i += 4) z[i] = z[i + k] + k;
  sum[2] = k;
#pragma endscop
}
