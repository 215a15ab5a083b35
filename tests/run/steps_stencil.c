// Two sweeps a step, in place. `--distribute` makes each step two phases: the grids pass through memory, so the array
// keeps no whole grid on chip. Chosen by itself if nothing else fits the board.
// sagen: --distribute --space i,j --tile i=4,j=3
// sagen: --distribute --space i --latency i=1
// sagen: --distribute --space j --tile j=5 -D N=9 -D T=2
// sagen: --distribute --space i -D N=4 -D T=3
// sagen: --limit bram36=10,uram=0,lut=30000 -D N=40 -D T=3
#ifndef N
#define N 12
#endif
#ifndef T
#define T 4
#endif
void relax(float a[N][N], float b[N][N])
{
#pragma scop
    for (int t = 0; t < T; t++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                b[i][j] = 0.2f * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                a[i][j] = 0.2f * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
    }
#pragma endscop
}
