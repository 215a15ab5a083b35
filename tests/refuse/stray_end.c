void f(int A[8]) {
  A[0] = 1; //~ WARNING W0201 does not execute it
#pragma endscop //~ ERROR E0205 end of a region that was never begun
}
