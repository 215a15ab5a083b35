// Ranges that are malformed, of nothing, or larger than the type.
#pragma sagen range(x, 0, 15)
#pragma sagen range(y) //~ ERROR E0105 an input, its least and its greatest value
#pragma sagen range(y, 7, -7) //~ ERROR E0105 malformed `range`
#pragma sagen range(w, 0, 1) //~ ERROR E0105 `w` is no input of the region
#pragma sagen range(y, 0, 256) //~ ERROR E0105 holds 0 to 255
void kernel(const int x[8], unsigned char y[8]) {
#pragma scop
  for (int i = 0; i < 8; i++)
    y[i] = x[i];
#pragma endscop
}
