// A sum that leaves by `return` is a result of one element; the code behind the region is the host's.
short dot(short x[48], short y[48], int shift) {
  int sum = 0;
#pragma scop
  for (int i = 0; i < 48; i++)
    sum += x[i] * y[i];
#pragma endscop
  return sum >> shift;
}
