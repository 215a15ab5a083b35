void f(int A[8]) {
#pragma scop //~ ERROR E0203 this region is not closed
  A[0] = 1;
#pragma endsa
}
