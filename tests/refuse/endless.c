// Loops that never end in C, though an ordinary reading says otherwise.
void f(int A[300]) {
#pragma scop
  for (unsigned i = 7; i >= 0; i--) //~ ERROR E0413 must become -1, which its type cannot hold
    A[i] = 0;
  for (unsigned char i = 0; i < 256; i++) //~ ERROR E0413 must become 256
    A[i] = 0;
  for (int i = 0; i >= 0; i++) //~ ERROR E0413 check the direction
    A[0] = 0;
  for (int i = 5; i != 4; i++) //~ ERROR E0413 the iterator can start beyond this bound
    A[0] = 0;
  for (int i = 0; 1 < 2; i++) //~ ERROR E0413 the condition does not bound the iterator from above
    A[0] = 0;
  for (unsigned i = 0; i < 4; i++)
    for (unsigned j = 0; j < i - 1; j++) //~ ERROR E0410 it can be -1, which wraps around
      A[j] = 0;
#pragma endscop
}
