void f(int A[8]) {
#pragma scop //~ ERROR E0203 put `#pragma endscop` after the loop nest
  A[0] = 1;
  A[1] = B; //~ ERROR E0307 unknown identifier `B`
}
