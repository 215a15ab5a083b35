// Unknown and doubly declared names, calls.
int g(int x);
void f(int A[8]) {
#pragma scop
  int s, s; //~ ERROR E0308 `s` is declared twice
  for (int i = 0; i < LIMIT; i++) //~ ERROR E0307 with -D
    A[i] = B[i]; //~ ERROR E0307 unknown identifier `B`
  for (j = 0; j < 8; j++) //~ ERROR E0307 unknown identifier `j`
    A[j] = g(A[j]); //~ ERROR E0404 there is no hardware for this function
  A[k] = 1; //~ ERROR E0307 `k` is not declared
  A[0] = max(A[1], A[2]); //~ ERROR E0404 #define MIN(a, b)
  g(3); //~ ERROR E0404 call of `g`
  A[2] = memset(A, 0, sizeof(int) * 8); //~ ERROR E0404 as a statement of its own
  A[1] = sqrtf(); //~ ERROR E0404 takes 1 argument
#pragma endscop
}
