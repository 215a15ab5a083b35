// One statement that carries values over all its loops: the outermost one becomes the loop of phases.
// sagen: --distribute --space i
// sagen: --distribute --space j -D N=7 -D T=5
#ifndef N
#define N 9
#endif
#ifndef T
#define T 3
#endif
void seidel(int a[N][N])
{
#pragma scop
    for (int t = 0; t < T; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) >> 2;
#pragma endscop
}
