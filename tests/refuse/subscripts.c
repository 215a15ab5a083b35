// Subscripts that are not affine, or too many or few of them.
void f(int A[16], int B[16][16], int P[16]) {
#pragma scop
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 4; j++) {
      A[P[i]] = 1; //~ ERROR E0408 compare instead
      A[i * j] = 2; //~ ERROR E0408 a product of iterators
      A[i % 17] = 3; //~ ERROR E0408 one for the quotient, one for the remainder
      B[i % 3][i / 3 % 7] = 4; //~ ERROR E0408 a division of an iterator
      A[i >> 5] = 4; //~ ERROR E0408 not affine
      B[i] = 5; //~ ERROR E0309 `B` has 2 dimension(s), 1 subscript(s) given
      A[i][j] = 6; //~ ERROR E0309 `A` has 1 dimension(s), 2
      A[0] = B[0][0][0]; //~ ERROR E0309 write `B[…][…]`
      A[0] += A; //~ ERROR E0309 0 subscript(s) given
    }
#pragma endscop
}
