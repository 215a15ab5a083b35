// What follows a loop's header that is not closed is read all the same, and the region ends where it ends.
void f(int A[8], int B[8]) {
#pragma scop
  for (int i = 0; i < 8; i++
    A[i] = B[i]; //~ ERROR E0201 expected `)` to close the loop's header
  for (int i = 0; i < 8; i++ { //~ ERROR E0201 expected `)` to close the loop's header
    B[i] = 2 * A[i];
  }
#pragma endscop
}
