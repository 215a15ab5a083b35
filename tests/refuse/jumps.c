// Other jumps.
int f(int A[8]) {
#pragma sa
again:
  for (int k = 0; k < 8; k++) {
    switch (A[k]) { //~ ERROR E0402 write `if` and `else`
    case 0:
      A[k] = 1;
    }
    if (A[k])
      goto again; //~ ERROR E0402 `goto` is not supported
  }
  return A[0]; //~ ERROR E0402 move it after the end of the region
#pragma endsa
}
