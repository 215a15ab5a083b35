// Integers of any width in C.
typedef _BitInt(65) wide;
void f(const wide a[4], _BitInt(4) b[4], int c[4]) { //~ ERROR E0301 not a number from 2 to 64
#pragma scop
  for (int i = 0; i < 4; i++)
    c[i] = b[i] + a[i];
  c[0] = 0x10000000000000000wb; //~ ERROR E0104 more than 64 bits
  for (_BitInt(4) j = 0; j < 4; j++) //~ ERROR E0406 the iterator is not an integer
    c[j] = 0;
#pragma endscop
}
