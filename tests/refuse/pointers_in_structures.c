// A structure with pointers: one message for each parameter of that type, none about its members.
typedef struct {
  int rows, cols;
  float *data;
} matrix;
void f(matrix *a, float y[8]) { //~ ERROR E0301 `data` in `struct` is a pointer
#pragma scop
  for (int i = 0; i < a->rows; i++)
    y[i] = a->data[i * a->cols];
#pragma endscop
}
