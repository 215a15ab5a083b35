// Three dimensions at once and one by one; the last loop begins in the middle of a row.
#define N 5
void f(int x[N*N*3], int y[N*N*3], int z[N*N*3], int s[N]) {
#pragma scop
  for (int i = 0; i < N*N*3; i++) y[i] = x[i] * 2;
  for (int r = 0; r < N; r++) { s[r] = 0; for (int c = 0; c < N; c++) for (int k = 0; k < 3; k++) s[r] += y[(r * N + c) * 3 + k]; }
  for (int r = 0; r < N; r++) for (int c = 0; c < N; c++) for (int k = 0; k < 3; k++) z[(r * N + c) * 3 + k] = y[(r * N + c) * 3 + k] - s[r];
  for (int i = 3; i < 71; i++) x[i] = z[i] + 1;
#pragma endscop
}
