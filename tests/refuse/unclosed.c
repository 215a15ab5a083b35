// The region ends inside a block.
void f(int A[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) { //~ ERROR E0207 this `{` is not closed inside the region
    A[i] = 0;
#pragma endscop
  }
}
