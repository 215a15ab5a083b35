// Calls of memcpy and memset that are no loop of assignments, and sizes that are not known.
#include <string.h>
void f(int a[4][6], int b[6][4], short s[24], float x[8], int n, int *p) {
  int local[4];
#pragma scop
  memcpy(a, b, sizeof(int) * 24); //~ ERROR E0404 have different lengths
  memcpy(a, s, 48); //~ ERROR E0404 have different types
  memcpy(a, b, n); //~ ERROR E0404 the number of bytes is neither constant
  memcpy(a[0], p, 26); //~ ERROR E0404 no multiple of the size of an element
  memcpy(&a[0][2], p, 40); //~ ERROR E0411 this is 6
  memcpy(a, b, sizeof(a) * 2); //~ ERROR E0404 a part of a row
  memset(x, 1, sizeof(float) * 8); //~ ERROR E0404 cannot be set byte by byte
  memmove(&s[1], s, 8); //~ ERROR E0404 which may overlap
  memcpy(n ? s : s, s, 8); //~ ERROR E0404 no array, row or element
  memcpy(local, p, sizeof(undeclared)); //~ ERROR E0404 the number of bytes is neither constant
  s[0] = sizeof(undeclared); //~ ERROR E0404 this size is not known
#pragma endscop
}
