// A comment that swallows the rest.
void f(int A[8]) {
#pragma scop //~ ERROR E0203 this region is not closed
  A[0] = 1;
  /* the end //~ ERROR E0102 this comment is never closed
#pragma endscop
}
