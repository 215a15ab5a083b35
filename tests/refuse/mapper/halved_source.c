// What was written half as far: reported once, however often the loop is unrolled, with two iterations as an example.
void kernel(const int x[16], int y[16]) {
#pragma scop
  for (int i = 1; i < 16; i++)
    y[i] = y[i / 2] + x[i]; //~ ERROR E0501 at i = 3 it was written at i = 1
#pragma endscop
}
