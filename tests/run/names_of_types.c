// Variables with the names of types that headers of C know (`half`, `uint`), in their scopes.
typedef struct { int x, y; } point;
typedef unsigned char uint;
static int twice(int half) { return half * 2; }
void f(const int a[9], int b[9], uint c[9], point d[9]) {
  int ushort;
#pragma scop
  for (int i = 0; i < 9; i++) {
    int half = a[i] / 2;
    half += 3;
    ushort = half - i;
    {
      int uint = twice(half);
      uint -= 1;
      point point;
      point.x = uint;
      point.y = (uint) + i;
      d[i] = point;
    }
    uint small = a[i];
    point q = d[i];
    b[i] = (half) - (uint)ushort + q.y;
    c[i] = small;
  }
#pragma endscop
}
