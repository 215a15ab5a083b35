// Loops that seem to count, and pointers that do not move evenly.
void f(int x[30], int y[30], int n[1]) {
#pragma scop
  for (unsigned i = 0; i - 1u < 5; i++) //~ ERROR E0410 it can be -1, which wraps around
    x[i] = 1;
  for (unsigned i = 9; i - 3 >= 0; i--) //~ ERROR E0410 it can be -1, which wraps around
    x[i] = 1;
  {
    unsigned i = 5;
    while (i >= 0) { //~ ERROR E0413 must become -1, which its type cannot hold
      x[i] = 1;
      i--;
    }
  }
  {
    int i = 9;
    do {
      x[i] = 2;
      i++;
    } while (i < 7); //~ ERROR E0401 it may be false before the first iteration
  }
  {
    int i = 0;
    while (i != 7) { //~ ERROR E0406 only for one bound, and if no step can pass over it
      x[i] = 1;
      i += 2;
    }
  }
  for (int i = 0; i < 9; i++) {
    if (x[i] > 2)
      i++; //~ ERROR E0409 the iterator `i` is assigned inside its loop
    y[i] = 2;
  }
  {
    int *p = x;
    for (int i = 0; i < 9; i++) {
      *p = 2; //~ ERROR E0306 where `p` points to is not known here
      if (x[i] > 2)
        p++;
    }
  }
  {
    int *p = x;
    for (int i = 0; i < 5; i++) {
      p += i;
      *p = 2; //~ ERROR E0306 it does not move by the same amount in each iteration
    }
  }
  {
    int *p = x;
    p += n[0];
    *p = 1; //~ ERROR E0306 where `p` points to is not known here
  }
  {
    int *p = y;
    for (int i = 0; i < 5; i++)
      x[i] = *p + *p++; //~ ERROR E0405 side effect inside an expression
  }
  {
    int k = 0;
    for (int i = 0; i < 5; i++)
      x[i] = y[i] > 0 ? y[k++] : 0; //~ ERROR E0405 side effect inside an expression
  }
  {
    int *p = y + 20;
    int *q = x + 20;
    for (int i = 0; i < 12; i++)
      *q++ = 0; //~ ERROR E0411 this is 30 at i = 10
    for (int i = 0; i < 12; i++)
      *--p = 0;
    for (int i = 0; i < 12; i++)
      *--p = 0; //~ ERROR E0411 this is -1 at i = 8
  }
#pragma endscop
}
