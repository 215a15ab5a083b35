// Two functions that share an array, whose sizes have names of their own.
#include <stdint.h>
#pragma sagen max(m=9, n=12)
void first(int m, uint8_t n, const int16_t A[m][n], const int16_t x[n], int32_t y[m])
{
#pragma scop
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            y[i] += A[i][j] * x[j];
#pragma endscop
}
#pragma sagen max(rows=9, columns=12)
void second(int rows, uint8_t columns, const int16_t M[rows][columns], const int16_t v[columns], int32_t out[rows])
{
#pragma scop
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            out[r] += M[r][c] * v[c];
#pragma endscop
}
