#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void sagen_call(void **buffers);
void **sagen_before, **sagen_after, **sagen_state;
int sagen_runs;
const long long *sagen_sizes;
static int over;
static void ended(void) { /* by exit(), while the function runs */
  if (!over) fputs(sagen_runs ? "sagen: behind\n" : "sagen: before\n", stderr);
}
static int fail(const char *why) {
  over = 1;
  return fprintf(stderr, "sagen: %s\n", why), 9;
}
int main(int argc, char **argv) {
  int n = argc - 3;
  void **buffers = calloc(n + 1, sizeof *buffers);
  size_t *sizes = calloc(n + 1, sizeof *sizes);
  FILE *f = fopen(argv[1], "rb");
  sagen_before = calloc(n + 1, sizeof *sagen_before);
  sagen_after = calloc(n + 1, sizeof *sagen_after);
  sagen_state = calloc(n + 1, sizeof *sagen_state);
  if (!f || !buffers || !sizes || !sagen_before || !sagen_after || !sagen_state) return fail("it cannot read its input");
  for (int k = 0; k < n; k++) {
    sizes[k] = strtoull(argv[k + 3], 0, 10);
    sagen_before[k] = malloc(sizes[k] + 1);
    sagen_after[k] = malloc(sizes[k] + 1);
    if (posix_memalign(&buffers[k], 64, sizes[k] + 64) || !sagen_before[k] || !sagen_after[k]) return fail("out of memory");
    if (fread(buffers[k], 1, sizes[k], f) != sizes[k]) return fail("its input is too short");
    memcpy(sagen_before[k], buffers[k], sizes[k]);
  }
  fclose(f);
  atexit(ended);
  sagen_call(buffers);
  over = 1;
  if (!sagen_runs) return fail("it never reaches the marked region");
  f = fopen(argv[2], "wb");
  if (!f) return fail("it cannot write its results");
  for (int k = 0; k < 2 * n; k++) {
    void *from = k < n ? sagen_before[k] : sagen_after[k - n];
    if (fwrite(from, 1, sizes[k % n], f) != sizes[k % n]) return fail("it cannot write its results");
  }
  return fclose(f) ? 9 : 0;
}
