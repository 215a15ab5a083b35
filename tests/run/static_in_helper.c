// One `static` variable of a function that is called twice.
static int counted(int x) {
  static int calls = 3;
  calls = calls + 1;
  return x + calls;
}
void f(int x, int y[2]) {
#pragma scop
  y[0] = counted(x);
  y[1] = counted(y[0]);
#pragma endscop
}
