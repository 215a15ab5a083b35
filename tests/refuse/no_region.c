//~ ERROR E0202 put `#pragma scop` before the loop nest
void f(int A[8]) {
  for (int i = 0; i < 8; i++)
    A[i] = 0;
}
