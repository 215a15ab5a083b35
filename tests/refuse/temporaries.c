// Variables that select elements but are not, or not for sure, one affine value in their type.
#include <stdint.h>
void f(int A[16], int x[300], int n) {
  int t = 0, last, late;
#pragma scop
  for (int i = 0; i < 8; i++) {
    uint8_t wide = 40 * i;
    x[wide] = 1; //~ ERROR E0410 which wraps around in its 8-bit type
    int8_t narrow = i - 130;
    x[narrow + 140] = 2; //~ ERROR E0410 which overflows in its 8-bit type
    unsigned below = i - 1;
    x[below] = 3; //~ ERROR E0410 it can be -1
    // From one iteration to the next.
    A[t] = 4; //~ ERROR E0408 `t` is a variable; its value is not known beforehand
    t = i;
    // In some iterations only.
    if (A[i] > 0) last = i;
    A[last] = 5; //~ ERROR E0408 `last` is a variable
    int chosen = i;
    if (A[i] > 1) chosen = i + 1; else chosen = i - 1;
    A[chosen] = 6; //~ ERROR E0408 `chosen` is a variable
    int data = A[i];
    A[data] = 7; //~ ERROR E0408 the value of `data` comes from data
    int size = n + i; //~ ERROR E0408 `n` is a parameter without a greatest value
    A[size] = 8;
    const int fixed = i;
    fixed = 3; //~ ERROR E0310 `fixed` is const
    int far = i + 9;
    A[far] = 9; //~ ERROR E0411 this is 16 at i = 7
    int outer = i;
    {
      int i = 2;
      A[outer] = i; //~ ERROR E0408 `outer` is a variable
    }
    late = 3 * i - 7;
  }
  // After the loop.
  A[late] = 10; //~ ERROR E0408 `late` is a variable
#pragma endscop
}
