// An array of main that is larger than the usual stack.
int main(void) {
  int large[5000000], y[8];
  for (int i = 0; i < 5000000; i++)
    large[i] = 7 * i;
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = 3 * large[i];
#pragma endscop
  return y[0] - large[4999999];
}
