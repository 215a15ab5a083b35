// Sizes say where loops end already. //~ ERROR E0728 a program with sizes at run time is not cut into strips
// sagen: --strip i=8
#pragma sagen max(n=24)
void triangle(int n, const short L[n][n], const short B[n][n], int C[n][n])
{
#pragma scop
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            C[i][j] = 0;
            for (int k = 0; k <= i; k++)
                C[i][j] += L[i][k] * B[k][j];
        }
#pragma endscop
}
