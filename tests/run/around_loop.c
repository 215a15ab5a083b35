// A region in a loop of the function: what the code behind it sets comes before its next run.
int f(int x[6]) {
  int carry = 1, sum = 0, step;
  for (int n = 0; n < 3; n++) {
    step = n + 1;
#pragma scop
    sum = 0;
    for (int i = 0; i < 6; i++) {
      x[i] = x[i] * step + carry;
      sum += x[i];
    }
#pragma endscop
    carry = sum & 7;
  }
  return sum;
}
