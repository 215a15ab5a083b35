// Extents that make no array.
#define BIG 100000
void f(int A[0], int B[2 - 5], int C[1 << 20][1 << 20][8], int D[BIG * BIG], int E[4 / 0], int F[4]) { //~ ERROR E0303 an extent of `A` is 0
  //~^ ERROR E0303 an extent of `B` is -3
  //~^^ ERROR E0304 `C` is too large
  //~^^^ ERROR E0410 does not fit into 32 bits
  //~^^^^ ERROR E0302 a division by zero
#pragma scop
  int G[F[0]]; //~ ERROR E0302 the value of an array element
  int w[2] = {1, 2, 3}; //~ ERROR E0313 3 values for 2 elements
  int x = {1, 2, 3}; //~ ERROR E0313 a scalar has one initializer
  int v[2] = 7; //~ ERROR E0313 an array needs an initializer list
  F[0] = A[0] + B[0] + C[0][0][0] + D[0] + E[0];
#pragma endscop
}
