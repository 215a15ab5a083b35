// Operands and types that do not fit.
typedef struct { int re, im; } complex_t;
void f(float x[4], int n[4], _Float16 h[4], __bf16 b[4], complex_t *unused) {
#pragma scop
  for (int i = 0; i < 4; i++) {
    x[i] = x[i] % 2; //~ ERROR E0311 this operator needs integers
    n[i] = ~x[i]; //~ ERROR E0311 this operator needs integers
    n[i] <<= 1.0f; //~ ERROR E0311 convert the operands by a cast
    x[i] = h[i] + b[i]; //~ ERROR E0311 _Float16 and __bf16 have no common type
    n[i] = (complex_t)n[i]; //~ ERROR E0301 cast to the unsupported type `complex_t`
    n[i] = ((int *)unused)[i]; //~ ERROR E0301 a cast to a pointer
    complex_t c;
    long double d = 0; //~ ERROR E0301 `long double` is not supported
    int *p; //~ ERROR E0306 `p` is a pointer
    n[i] = sizeof(complex_t *) + sizeof(struct unknown); //~ ERROR E0404 write the number
    n[i] = "text"; //~ ERROR E0301 strings are not supported
    n[i] = "text"[0]; //~ ERROR E0301 strings are not supported
    n[0][i] = x; //~ ERROR E0309 `n` has 1 dimension(s)
    //~^ ERROR E0309 `x` has 1 dimension(s), 0
  }
#pragma endscop
}
