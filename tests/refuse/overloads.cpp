// Functions of one name: the types of the arguments would choose.
static int twice(int v) { return 2 * v; }
static float twice(float v) { return 2.0f * v; } //~ ERROR E0404 `twice` is defined more than once
void f(int x[8], float y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++) {
    x[i] = twice(x[i]);
    y[i] = twice(y[i]);
  }
#pragma endscop
}
