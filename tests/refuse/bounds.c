// Loop bounds that are not affine.
void f(int A[16], int n[1]) {
  int m;
#pragma scop
  m = n[0];
  for (int i = 0; i < n[0]; i++) //~ ERROR E0407 run the loop to the greatest value
    A[i] = 0;
  for (int i = 0; i < m; i++) //~ ERROR E0407 run the loop to the greatest value
    A[i] = 0;
  for (int i = 1; i < 4; i++)
    for (int j = 0; j < i * i; j++) //~ ERROR E0407 put the condition into an `if`
      A[j] = 0;
  for (int i = 0; i < 4; i++)
    for (int j = i / 17; j < 4; j++) //~ ERROR E0407 split the loop in two
      A[j] = 0;
  for (int i = 0; i < 1.5; i++) //~ ERROR E0407 a floating-point number
    A[i] = 0;
#pragma endscop
}
