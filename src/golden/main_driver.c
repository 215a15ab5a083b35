#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
void **sagen_before, **sagen_after, **sagen_state;
int sagen_runs;
const long long *sagen_sizes;
static size_t *sizes;
static int n;
static void fail(const char *why) {
  fprintf(stderr, "sagen: %s\n", why);
  _exit(9);
}
static void ended(void) { /* before the region was left */
  fflush(stderr);
  fputs(sagen_runs ? "sagen: behind\n" : "sagen: before\n", stderr);
}
__attribute__((constructor)) static void sagen_begin(void) {
  const char *at = getenv("SAGEN_SIZES"), *in = getenv("SAGEN_IN");
  FILE *f = in ? fopen(in, "rb") : 0;
  if (!f || !at) fail("it cannot read its input");
  for (const char *c = at; *c; c++) n += *c == ' ';
  sizes = calloc(n + 1, sizeof *sizes);
  sagen_before = calloc(n + 1, sizeof *sagen_before);
  sagen_after = calloc(n + 1, sizeof *sagen_after);
  sagen_state = calloc(n + 1, sizeof *sagen_state);
  if (!sizes || !sagen_before || !sagen_after || !sagen_state) fail("out of memory");
  for (int k = 0; k < n; k++) {
    char *end;
    sizes[k] = strtoull(at, &end, 10);
    at = end + 1;
    sagen_before[k] = malloc(sizes[k] + 1);
    sagen_after[k] = malloc(sizes[k] + 1);
    if (!sagen_before[k] || !sagen_after[k]) fail("out of memory");
    if (fread(sagen_before[k], 1, sizes[k], f) != sizes[k]) fail("its input is too short");
  }
  fclose(f);
  atexit(ended);
}
void sagen_other_size(const char *format, ...) {
  va_list values;
  fputs("sagen: main() calls it with other sizes, which can be asked for: --size ", stderr);
  va_start(values, format);
  vfprintf(stderr, format, values);
  fputs("\n", stderr);
  _exit(9);
}
void sagen_done(void) {
  const char *out = getenv("SAGEN_OUT");
  FILE *f = out ? fopen(out, "wb") : 0;
  if (!f) fail("it cannot write its results");
  for (int k = 0; k < 2 * n; k++) {
    void *from = k < n ? sagen_before[k] : sagen_after[k - n];
    if (fwrite(from, 1, sizes[k % n], f) != sizes[k % n]) fail("it cannot write its results");
  }
  _exit(fclose(f) ? 9 : 0);
}
