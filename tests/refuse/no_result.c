// Nothing that the region computes reaches a parameter, a global or the code behind the region.
int threshold;
void f(const int a[8]) {
  int sum = 0, other;
#pragma scop //~ ERROR E0503 such as `return sum;`
  for (int i = 0; i < 8; i++)
    sum += a[i] + threshold;
#pragma endscop
  sum = 3; //~ WARNING W0201 outside the marked region
  other = sum; //~ WARNING W0201 outside the marked region
}
