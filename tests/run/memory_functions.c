// memcpy, memset and sizeof: whole arrays, rows, parts, flat against rows.
#include <string.h>
#include <stdlib.h>
typedef short row_t[6];
static void clear(int *p) { memset(p, 0, 6 * sizeof(*p)); }
void copies(int x[4][6], int y[4][6], short z[6], unsigned char bytes[10], float f[5]) {
  int local[4][6], flat[24];
  row_t row;
#pragma scop
  memcpy(local, x, sizeof local);
  memcpy(flat, (const void *)local, 24 * sizeof(int));
  for (int i = 0; i < sizeof(local) / sizeof(local[0]); i++)
    for (int j = 0; j < 6; j++)
      flat[6 * i + j] = flat[6 * i + j] + 100;
  memcpy(y, flat, sizeof local);
  clear(y[1]);
  memcpy(x[1], &local[2][0], sizeof(local[0]));
  memcpy(&y[0][3], &x[0][2], 2 * sizeof(int));
  memset(row, -1, sizeof(row_t));
  memcpy(z, row, sizeof row);
  memset(bytes + 2, 7, 5);
  memset(f, 0, sizeof(float) * 5);
#pragma endscop
}
