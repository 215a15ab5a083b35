// `static` variables under conditions and in loops keep what they hold; one of them only ever as the caller has it.
void f(const int x[8], int y[8], int reset) {
  static int limit = 40;
  static int offset = 5;
  static short history[8];
#pragma scop
  for (int i = 0; i < 8; i++) {
    static int run;
    if (x[i] > 0)
      run = run + 1;
    else {
      static int longest;
      if (run > longest)
        longest = run;
      run = 0;
      y[i] = longest;
    }
    history[i] = history[i] + (run < limit ? run : limit) + offset;
  }
  if (reset)
    limit = 10;
#pragma endscop
}
