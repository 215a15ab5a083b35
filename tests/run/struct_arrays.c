// Structures whose members are arrays or structures of one type; members set in a chain of branches.
// sagen: --distribute
typedef struct {
  float c[6];
} tensor;
typedef struct {
  float x, y, z;
} vec;
typedef struct {
  vec at;
  float m[2][2];
} body;
typedef struct {
  unsigned char kind, weight;
} label;
void struct_arrays(vec g[12], tensor t[12], body b[5], float r[5][2], unsigned char x[20], label y[20]) {
#pragma scop
  for (int i = 0; i < 12; i++) {
    t[i].c[0] = g[i].x * g[i].x;
    t[i].c[1] = g[i].y * g[i].y;
    t[i].c[2] = g[i].z * g[i].z;
    t[i].c[3] = g[i].x * g[i].y;
    t[i].c[4] = g[i].x * g[i].z;
    t[i].c[5] = g[i].y * g[i].z;
  }
  for (int i = 0; i < 5; i++)
    for (int j = 0; j < 2; j++) r[i][j] = b[i].m[j][0] * b[i].at.x + b[i].m[j][1] * b[i].at.y;
  for (int i = 0; i < 20; i++) {
    label p;
    if (x[i] < 60) {
      p.kind = 0;
      p.weight = 1;
    } else if (x[i] < 160) {
      p.kind = 1;
      p.weight = x[i] >> 2;
    } else {
      p.kind = 2;
      p.weight = 255;
    }
    y[i] = p;
  }
#pragma endscop
}
