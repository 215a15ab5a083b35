// Calls that cannot be inlined, and pointers and structures that cannot be told apart.
int scale = 3;
struct mixed { int x; float y; };
struct pair { int x, y; };
int loops(int n) {
  int s = 0;
  for (int i = 0; i < 3; i++)
    s += n * i;
  return s;
}
int early(int n) {
  for (int i = 0; i < 3; i++)
    if (n == i) return 7;
  return 1;
}
int again(int n) { return n == 0 ? 1 : again(n - 1); } //~ ERROR E0404 functions that call themselves
int jumps(int n) { while (n) { if (n == 3) break; n--; } return n; } //~ ERROR E0402 `jumps` is called here
int hidden(int n) { return n * scale; }
int sets(int x[8], int n) { x[n] = 1; return n; }
void f(int A[8], int B[8], struct mixed m[4], struct pair p[4], struct pair v, int **q) { //~ ERROR E0301 the members of `struct mixed` are of several types
  //~^ ERROR E0301 pass an array of one element: `struct pair v[1]`
  //~^^ ERROR E0306 `q` is a pointer
#pragma scop
  for (int i = 0; i < 8; i++) {
    int scale = i;
    A[i] = A[i] ? sets(B, i) : 0; //~ ERROR E0404 assign its result to a local variable first
    A[i] = early(i); //~ ERROR E0404 returns early
    A[i] = again(i);
    A[i] = jumps(i);
    A[i] = hidden(i); //~ ERROR E0404 uses the global `scale`
    A[i] = loops(i, 2); //~ ERROR E0404 it takes 1 argument(s), 2 given
    B[i] = (int)&A[1]; //~ ERROR E0403 taking an address
  }
  for (int i = 0; i < 4; i++) {
    B[i] = m[i].x + q[i][0];
    B[i] = p[i].z; //~ ERROR E0403 there is no member `z`
    B[i] = p[i][0]; //~ ERROR E0403 write `p[…].MEMBER`
    B[i] = A[i].x; //~ ERROR E0403 `A` has no members
  }
#pragma endscop
}
