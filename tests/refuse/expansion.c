// A fault inside a macro is shown where the macro is used.
#define AT(a, i) a[(i) + 1]
#define LOOP(i, n) for (int i = 0; i < n * n; i++)
#define TWICE(x) x x
#define MANY TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(+))))))))))))))))))))))
#define SELF SELF + 1
void f(int A[9], int B[3]) {
#pragma scop
  LOOP(i, 3)
    AT(A, i) = AT(B, 0); //~ ERROR E0411 this is 9 at i = 8
  A[0] = SELF; //~ ERROR E0307 unknown identifier `SELF`
  A[1] = 1 MANY 2; //~ ERROR E0113 expands too far
  //~^ ERROR E0201 expected `;`
#pragma endscop
}
