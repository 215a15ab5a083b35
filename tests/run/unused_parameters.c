// Parameters that the region does not use, whatever they are.
#include <stdio.h>
struct node {
  struct node *next;
  int values[3];
};
void f(void *context, int x[8], struct node *list, FILE *log, int (*compare)(int, int), double _Complex z, int, char *names[]) {
  (void)context;
#pragma scop
  for (int i = 0; i < 8; i++)
    x[i] = 3 * x[i];
#pragma endscop
}
