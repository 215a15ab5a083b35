// A call of a template.
template <typename T> //~ ERROR E0211 is called here
T squared(T x) { return x * x; }
void f(int x[8], int y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = squared(x[i]);
#pragma endscop
}
