// Loop headers of other shapes.
void f(int A[8]) {
  int i, j;
#pragma scop
  for (; i < 8; i++) //~ ERROR E0406 this loop does not count
    A[0] = 1;
  for (i = 0;; i++) //~ ERROR E0406 the loop has no condition
    A[0] = 1;
  for (i = 0; i < 8;) //~ ERROR E0413 the condition does not bound the iterator
    A[0] = 1;
  for (i = 0, j = 0; i < 8; i++)
    A[0] = 1;
  for (i = 0; i < 8; i *= 2) //~ ERROR E0406 the loop's step is not understood
    A[0] = 1;
  for (i = 0; i < 8; j++) //~ ERROR E0413 the condition does not bound the iterator
    A[0] = 1;
  for (i = 0; i < 8; i += A[0]) //~ ERROR E0406 the loop's step
    A[0] = 1;
  for (i = 0; i < 8; i += 0) //~ ERROR E0406 the loop's step is 0
    A[0] = 1;
  for (i = 0; i < 8 || A[0]; i++) //~ ERROR E0406 expected `<`
    A[0] = 1;
  for (int k; k < 8; k++) //~ ERROR E0406 it is not initialized
    A[0] = 1;
  for (float x = 0; x < 8; x++) //~ ERROR E0406 the iterator is not an integer
    A[0] = 1;
#pragma endscop
}
