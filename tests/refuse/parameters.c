// Scalars by value, extents that are not constant.
void f(int n, float alpha, int A[n][4], int B[M]) { //~ ERROR E0305 make `n` a constant
  //~^ ERROR E0305 `alpha` is passed by value
  //~^^ ERROR E0302 pass -D NAME=VALUE
#pragma scop
  for (int i = 0; i < 4; i++)
    A[i][0] = alpha * B[i];
#pragma endscop
}
