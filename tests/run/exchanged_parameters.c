// Parameters change places an odd number of times, and are used behind the loop.
void jac(int a[32], int b[32], int C[32]) {
#pragma scop
  for (int t = 0; t < 7; t++) {
    for (int i = 1; i < 31; i++)
      b[i] = a[i-1] + a[i] + a[i+1];
    int *s = a; a = b; b = s;
  }
  for (int i = 1; i < 31; i++) C[i] = a[i];
#pragma endscop
}
