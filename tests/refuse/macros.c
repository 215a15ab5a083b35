// Preprocessor faults.
#define ADD(a, b) ((a) + (b))
#define BAD(a a) a //~ ERROR E0105 malformed macro parameter list
#define 3 //~ ERROR E0105 no identifier follows
#include "no_such_file.h" //~ ERROR E0107 not beside this file
#frobnicate //~ ERROR E0105 not a directive of C
#if 1 + //~ ERROR E0111 an operand is missing
#endif
#else //~ ERROR E0106 `#else` without `#if`
#endif //~ ERROR E0106 no conditional is open here
#ifdef NOTHING
#error "skipped"
#endif
#error "not skipped" //~ ERROR E0110 the program itself refuses
#define GLUE(a) a##+
void f(int A[8]) {
#pragma scop
  A[0] = ADD(1); //~ ERROR E0108 macro `ADD` takes 2 argument(s), 1 given
  //~^ ERROR E0201 expected an expression
  A[1] = GLUE(3) 1; //~ ERROR E0109 which is not one token
  //~^ ERROR E0201 expected `;`
#pragma endscop
}
#if 0 //~ ERROR E0106 unterminated conditional
