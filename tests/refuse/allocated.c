// Pointers that may point to other memory, too.
#include <stdlib.h>
int main(int argc, char **argv) {
  int x[8], y[8];
  int *either = malloc(32); //~ ERROR E0306 `either` is a pointer
  int *same; //~ ERROR E0306 `same` is a pointer
  int *moved = malloc(64); //~ ERROR E0306 `moved` is a pointer
  moved++;
  if (argc)
    either = x;
  same = either;
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = either[i] + same[i] + moved[i];
#pragma endscop
  return y[0];
}
