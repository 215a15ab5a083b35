// Numbers beyond what the types or the analysis hold.
void f(int A[8], long B[8]) {
#pragma scop
  for (long i = 0; i < 4611686018427387904; i++) //~ ERROR E0410 beyond 2^50
    A[0] = 1;
  for (int i = 0; i < 2000000000 + 2000000000; i++) //~ ERROR E0410 does not fit into 32 bits
    A[0] = 1;
  for (int i = 0; i < 100000; i++)
    A[i * 1000000 - i * 1000000] = 1; //~ ERROR E0410 overflows in its 32-bit type
  for (int i = 0; i < 2147483648; i++) //~ ERROR E0413 must become 2147483648
    A[0] = 1;
  for (int i = 0; i < 8; i++)
    B[i] = 1125899906842624L * i;
#pragma endscop
}
