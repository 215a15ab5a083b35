// Loops whose trip count is not known, and jumps.
void f(int A[8], int B[8], int n[1]) {
#pragma scop
  int i = 0;
  while (A[i] > 0) { //~ ERROR E0401 how often it runs is not known
    A[i] = 0;
  }
  i = 0;
  do {
    i += n[0];
    A[i] = 0;
  } while (i < 8); //~ ERROR E0401 this loop does not count
  i = 0;
  while (i < 8) {
    if (A[i] == 3)
      break; //~ ERROR E0402 put the rest of the body under an `if`
    i++;
  }
#pragma endscop
}
