// A file that begins with a byte-order mark.
void kernel(int a[3], int b[3]) {
#pragma scop
  for (int i = 0; i < 3; i++)
    b[i] = a[i] + i;
#pragma endscop
}
