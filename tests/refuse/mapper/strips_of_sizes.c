// Strips that hand values on would keep them for a time that follows from sizes, too. //~ ERROR E0728 values are carried over the loop `k`
// sagen: --strip k=8
#pragma sagen max(n=24)
void lu(int n, float A[n][n])
{
#pragma scop
    for (int k = 0; k < n; k++) {
        for (int i = k + 1; i < n; i++) A[i][k] /= A[k][k];
        for (int i = k + 1; i < n; i++)
            for (int j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j];
    }
#pragma endscop
}
