// A block-tridiagonal system of 2 x 2 blocks: elimination forwards, substitution backwards.
#define N 9
void blocktri(const float A[N][2][2], float B[N][2][2], const float C[N][2][2], float d[N][2], float x[N][2]) {
#pragma scop
  for (int i = 1; i < N; i++) {
    float det = B[i-1][0][0]*B[i-1][1][1] - B[i-1][0][1]*B[i-1][1][0];
    float m00 = (A[i][0][0]*B[i-1][1][1] - A[i][0][1]*B[i-1][1][0]) / det;
    float m01 = (A[i][0][1]*B[i-1][0][0] - A[i][0][0]*B[i-1][0][1]) / det;
    float m10 = (A[i][1][0]*B[i-1][1][1] - A[i][1][1]*B[i-1][1][0]) / det;
    float m11 = (A[i][1][1]*B[i-1][0][0] - A[i][1][0]*B[i-1][0][1]) / det;
    B[i][0][0] -= m00*C[i-1][0][0] + m01*C[i-1][1][0];
    B[i][0][1] -= m00*C[i-1][0][1] + m01*C[i-1][1][1];
    B[i][1][0] -= m10*C[i-1][0][0] + m11*C[i-1][1][0];
    B[i][1][1] -= m10*C[i-1][0][1] + m11*C[i-1][1][1];
    d[i][0] -= m00*d[i-1][0] + m01*d[i-1][1];
    d[i][1] -= m10*d[i-1][0] + m11*d[i-1][1];
  }
  for (int i = N - 1; i >= 0; i--) {
    float r0 = d[i][0], r1 = d[i][1];
    if (i < N - 1) {
      r0 -= C[i][0][0]*x[i+1][0] + C[i][0][1]*x[i+1][1];
      r1 -= C[i][1][0]*x[i+1][0] + C[i][1][1]*x[i+1][1];
    }
    float det = B[i][0][0]*B[i][1][1] - B[i][0][1]*B[i][1][0];
    x[i][0] = (r0*B[i][1][1] - r1*B[i][0][1]) / det;
    x[i][1] = (r1*B[i][0][0] - r0*B[i][1][0]) / det;
  }
#pragma endscop
}
