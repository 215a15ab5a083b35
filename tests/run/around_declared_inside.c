// Variables that the region declares and the code behind it uses.
int f(const int x[16], int y[4]) {
#pragma scop
  int sum = 3, parts[4], unset[4];
  for (int i = 0; i < 16; i++)
    sum += x[i];
  for (int i = 0; i < 4; i++)
    parts[i] = x[4 * i] - x[4 * i + 1];
  unset[1] = sum;
#pragma endscop
  for (int i = 0; i < 4; i++)
    y[i] = parts[i] + (i == 1 ? unset[1] : 0);
  return sum;
}
