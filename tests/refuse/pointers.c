// Pointers and structures.
struct point { int x, y; };
void f(int *p, int (*rows)[4], int A[8], struct point q[4], int open[][4]) { //~ ERROR E0306 declare it as an array with constant extents, such as `int p[N]`
  //~^ ERROR E0306 `rows` is a pointer
  //~^^ ERROR E0301 `struct point` is no arithmetic type
  //~^^^ ERROR E0306 an extent of `open` is missing
#pragma scop
  for (int i = 0; i < 4; i++) {
    *A = i; //~ ERROR E0403 dereferencing a pointer
    A[i] = q[i].x; //~ ERROR E0403 use one array per member
    A[i] = (int)&A[1]; //~ ERROR E0403 taking an address
    (A + 1)[i] = 3; //~ ERROR E0403 this cannot be assigned to
  }
#pragma endscop
}
