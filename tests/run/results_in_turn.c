// Results that leave one after the other: chains along either axis, tiles with one and two buffers, words that are cut
// off, and two elements of a chain at once.
// sagen: --space i,j --tile i=32,j=16 --latency i=8,j=4 --word C=4
// sagen: --space j,i --tile i=32,j=16 --latency i=8,j=4 --word C=4
// sagen: --space i,j --tile i=32,j=16 --latency i=8,j=4 --word C=4 --cuts i=1,2,3
// sagen: --space j,i --tile i=32,j=16 --latency i=8,j=4 --word C=4 --cuts j=2
// sagen: --space i,j --tile i=32,j=16,k=16 --latency i=8,j=4 --word C=4
// sagen: -D NI=61 -D NJ=30 -D NK=64 --space i,j --tile i=32,j=16 --latency i=8,j=4 --word C=4
// sagen: -D NJ=40 -D NK=64 --space i,j --tile i=32,j=40 --latency i=8,j=8 --word C=8
// sagen: -D NJ=40 -D NK=64 --space i,j --tile i=32,j=40 --latency i=8,j=8 --word C=8 --cuts j=2,3
// sagen: -D NJ=32 -D NK=64 --space i,j --tile i=32,j=32 --latency i=8,j=4 --simd j=2 --word C=8
#ifndef NI
#define NI 32
#endif
#ifndef NJ
#define NJ 16
#endif
#ifndef NK
#define NK 32
#endif
void mm(const int A[NI][NK], const int B[NK][NJ], int C[NI][NJ]) {
#pragma scop
  for (int i = 0; i < NI; i++)
    for (int j = 0; j < NJ; j++) {
      C[i][j] = 0;
      for (int k = 0; k < NK; k++)
        C[i][j] += A[i][k] * B[k][j];
    }
#pragma endscop
}
