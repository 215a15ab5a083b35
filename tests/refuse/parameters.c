// Scalars by value that are assigned or bound a loop, extents that are not constant.
void f(int n, float alpha, int m, int A[n][4], int B[M]) { //~ ERROR E0302 pass -D NAME=VALUE
  //~^ ERROR E0302 pass -D NAME=VALUE
#pragma scop
  alpha = 2; //~ ERROR E0305 assign to a local variable
  for (int i = 0; i < m; i++) //~ ERROR E0407 make it a constant
    A[i][0] = alpha * B[i];
#pragma endscop
}
