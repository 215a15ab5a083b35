// The same array at once and in rows: the loop over all of it is taken in rows, too.
#define N 7
void lower(float x[N * N], float y[N * N])
{
#pragma scop
    for (int i = 0; i < N * N; i++)
        y[i] = x[i];
    for (int r = 1; r < N; r++)
        for (int c = 0; c < r; c++)
            y[r * N + c] = 0.5f * y[r * N + c];
#pragma endscop
}
