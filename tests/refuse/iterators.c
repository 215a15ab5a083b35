// Iterators that the body changes, or that are used behind their loop.
void f(int A[8]) {
  int i, last;
#pragma scop
  for (i = 0; i < 8; i++) {
    A[i] = 0;
    i = i + 1; //~ ERROR E0409 the iterator `i` is assigned inside its loop
    if (A[i] > 1)
      i--; //~ ERROR E0409 use another variable
    for (i = 0; i < 3; i++) //~ ERROR E0409 an outer loop counts it already
      A[i] = 1;
  }
  last = i;
  A[0] = last;
#pragma endscop
}
