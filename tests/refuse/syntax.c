// Syntax errors: each statement is reported, the others are still read.
void f(int A[8], int B[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    A[i] = B[i] + ; //~ ERROR E0201 expected an expression
    A[i] = (B[i]; //~ ERROR E0201 expected `)`
    A[i] = B[i] //~ ERROR E0201 expected `;` after the statement
    A[i] = 3;
    A[i] = B[; //~ ERROR E0201 expected an expression
    else A[i] = 0; //~ ERROR E0201 `else` without `if`
    int = 4; //~ ERROR E0201 expected a name
    A[i] = nothing; //~ ERROR E0307 unknown identifier
  }
  for (int i = 0, i < 8; i++) //~ ERROR E0201 expected `;` after the declaration
    A[i] = 1;
#pragma endscop
}
