// Jumps that are not brought into `if` and `else`.
int f(int A[8]) {
#pragma sa
again:
  for (int k = 0; k < 8; k++) {
    switch (A[k]) {
    case 0:
      A[k] = 1;
    case 1: //~ ERROR E0402 the case in front of it goes on here
      A[k] = 2;
    }
    switch (A[k]++) { //~ ERROR E0402 assign it to a variable
    case 0:
      A[k] = 1;
    }
    switch (A[k]) { //~ ERROR E0402 more than 32 bits
    case 0x100000000:
      A[k] = 1;
    }
    switch (A[k]) {
      A[k] = 2; //~ ERROR E0402 no `case` is in front
    }
    if (A[k])
      goto again; //~ ERROR E0402 `goto` is not supported
  }
  int j, m = 0;
  for (j = 0; j < 8; j++, m += A[0])
    if (A[j])
      break; //~ ERROR E0402 `break` is not supported
  for (j = 0; j < 8; j += 2)
    if (A[j])
      break;
  A[0] = j; //~ ERROR E0412 counted by this loop
  return A[0]; //~ ERROR E0402 move it after the end of the region
#pragma endsa
}
int printf(const char *, ...);
int main(void) {
  int i, x[8];
#pragma scop
  for (i = 0; i < 8; i += 2) { //~ ERROR E0412 `break` may end this loop
    if (x[i] > 20)
      break;
    x[i] = 0;
  }
#pragma endscop
  printf("%d %d", i, x[2]);
  return 0;
}
