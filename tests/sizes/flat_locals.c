// sagen: --size n=1,m=1 --size n=6,m=5 --size n=3,m=8 --size n=8,m=8
// Arrays of the function in one dimension, addressed by two sizes: on chip, and on the heap.
#include <stdlib.h>
#pragma sagen max(n=8, m=8)
void flat_locals(const int *a, int *b, int n, int m) {
  int local[8 * 8];
  int *heap = malloc(n * m * sizeof(int));
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      local[i * m + j] = a[i * m + j] * 3;
      heap[j * n + i] = a[i * m + j] - 1;
    }
  for (int i = 0; i < n; i++) {
    int row[2 * 8];
    for (int j = 0; j < m; j++) row[j] = local[i * m + (m - 1 - j)];
    for (int j = 0; j < m; j++) b[i * m + j] = row[j] + heap[j * n + i];
  }
#pragma endscop
  free(heap);
}
