// Locals that every branch of a chain sets, with conditions of several parts: an insertion sort, and members.
#define SIZE 11
void sort(const int a[SIZE], int b[SIZE], short kind[SIZE]) {
  struct { short k, n; } of;
#pragma scop
  for (int i = 0; i < SIZE; i++) {
    int item = a[i];
    for (int j = SIZE - 1; j >= 0; j--) {
      int t;
      if (j > i)
        t = b[j];
      else if (j > 0 && b[j - 1] > item)
        t = b[j - 1];
      else {
        t = item;
        if (j > 0)
          item = b[j - 1];
      }
      b[j] = t;
    }
  }
  for (int i = 0; i < SIZE; i++) {
    int part;
    if (!(a[i] > 3 && a[i] < 90) && i != 5) {
      of.k = 1;
      of.n = 7;
    } else if (a[i] & 1 || a[i] < 20) {
      if (a[i] < 20)
        of.k = 2;
      else
        of.k = 3;
      of.n = a[i];
    } else
      of.k = of.n = 4;
    kind[i] = of.k * of.n;
    // Both elements keep their values where the condition fails.
    int pair[2] = {1, 2};
    if (a[i] > 20)
      pair[0] = pair[1] = 4;
    else if (a[i] < 5)
      of.n = of.k = i;
    kind[i] += pair[0] * 10 + pair[1] + of.k - of.n;
    // Set under both parts at once, read under one after the other.
    if (a[i] > 10 && i < 9) part = a[i] / 2;
    if (i < 9)
      if (a[i] > 10) kind[i] += part;
  }
#pragma endscop
}
