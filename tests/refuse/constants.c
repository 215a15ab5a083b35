// Writes to what is const.
const int limit = 4;
void f(const int A[8], int B[8]) {
#pragma scop
  const int k = 3;
  const int z[2] = {1, 2};
  limit = 5; //~ ERROR E0310 `limit` is a constant
  k += 1; //~ ERROR E0310 remove `const`
  for (int i = 0; i < 8; i++)
    A[i] = B[i]; //~ ERROR E0310 `A` is const
  z[0] = 1; //~ ERROR E0310 it cannot be assigned
#pragma endscop
}
