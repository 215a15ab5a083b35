// Pointers and structures.
struct point { int x; int *y; };
void f(int *p, int *rows[4], int A[8], struct point q[4], int open[4][], int below[][4]) { //~ ERROR E0306 `rows` is a pointer
  //~^ ERROR E0301 `y` in `struct point` is a pointer
  //~^^ ERROR E0306 an extent of `open` is missing
#pragma scop
  int *s; //~ ERROR E0306 declare it as an array with constant extents, such as `int s[N]`
  for (int i = 0; i < 4; i++) {
    *A = rows[0][i] + open[0][i];
    A[i] = q[i].x;
    A[i] = (int)&A[1]; //~ ERROR E0403 taking an address
    (A + 1)[i] = 3;
    below[i - 1][2] = 4; //~ ERROR E0411 subscripts start at 0
    p = 0; //~ ERROR E0309 0 subscript(s) given
  }
#pragma endscop
}
