// Loops whose trip count is not known, and jumps.
void f(int A[8], int n[1]) {
#pragma scop
  int i = 0;
  while (A[i] > 0) { //~ ERROR E0401 how often it runs is not known
    A[i] = 0;
  }
  do { //~ ERROR E0401 `do` loops are not supported
    i++;
  } while (i < 8);
  for (int k = 0; k < 8; k++) {
    if (A[k] == 3)
      break; //~ ERROR E0402 put the rest of the body under an `if`
    if (A[k] == 4)
      continue; //~ ERROR E0402 `continue` is not supported
    A[k] = 1;
  }
#pragma endscop
}
