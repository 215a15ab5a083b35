// A factorization in place, row by row: with `--distribute` each row is a phase, which reads the rows before it from
// memory.
// sagen: --distribute --space j
// sagen: --distribute --space j --tile j=4 -D N=9
#ifndef N
#define N 13
#endif
void factor(float a[N][N])
{
#pragma scop
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++)
                a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j];
        }
        for (int j = i; j < N; j++)
            for (int k = 0; k < i; k++)
                a[i][j] -= a[i][k] * a[k][j];
    }
#pragma endscop
}
