// Two steps of diffusion on a torus: each index that leaves the cube comes back at the other side.
// sagen:
#define N 4
#define L(i) ((i) == 0 ? N - 1 : (i)-1)
#define R(i) ((i) == N - 1 ? 0 : (i) + 1)

void torus(int u[2][N][N][N])
{
#pragma scop
    for (int t = 1; t < 3; t++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    u[t % 2][i][j][k] = u[(t - 1) % 2][i][j][k]
                        + u[(t - 1) % 2][L(i)][j][k] + u[(t - 1) % 2][R(i)][j][k]
                        + u[(t - 1) % 2][i][L(j)][k] + u[(t - 1) % 2][i][R(j)][k]
                        + u[(t - 1) % 2][i][j][L(k)] + u[(t - 1) % 2][i][j][R(k)];
#pragma endscop
}
