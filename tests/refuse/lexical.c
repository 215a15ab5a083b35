// Text that is no C.
void f(int A[8]) {
#pragma scop
  A[0] = 1 @ 2; //~ ERROR E0101 unexpected character '@'
  A[1] = 'ab'; //~ ERROR E0104 only one ASCII character
  A[2] = 089; //~ ERROR E0104 octal
  A[3] = 12abc; //~ ERROR E0104 `abc` is not a suffix
  A[4] = 99999999999999999999; //~ ERROR E0104 it does not fit into 64 bits
  A[5] = '\q'; //~ ERROR E0104 unknown escape sequence
  A[6] = 'x; //~ ERROR E0103 unterminated character constant
  A[7] = 1;
#pragma endscop
}
