// Assignments inside of expressions, pointers as iterators of `for`, and strings at file level.
const char letters[5] = "ACGT";
static const char open[] = "xyz";
const char *names[] = {"a", "b"};
struct entry {
  const char *name;
  int value;
} entries[2] = {{"first", 1}, {"second", 2}};

static void clear(int *matrix) {
  int *p;
  for (p = matrix; p < matrix + 12; p++)
    *p = *p < 0 ? 0 : *p;
}

void assigned_inside(unsigned char y[12], unsigned char z[12], const short x[12], int m[12], char text[9], int out[4]) {
  int a, b;
#pragma scop
  a = b = 3;
  for (int i = 0; i < 12; i++)
    y[i] ^= (z[i] = x[i]);
  for (int i = 0; i < 12; i++)
    if ((a = x[i] + b) > 0)
      out[i % 4] = a;
    else
      m[i] = out[i % 4] = b = 1;
  clear(m);
  for (int i = 0; i < 5; i++)
    text[i] = letters[i];
  for (int i = 0; i < 4; i++)
    text[5 + i] = open[i];
#pragma endscop
}
