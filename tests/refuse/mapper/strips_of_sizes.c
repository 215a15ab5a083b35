// Sizes say where loops end already. //~ ERROR E0728 a program with sizes at run time is not cut into strips
// sagen: --strip i=8
#pragma sagen max(n=24)
void totals(int n, const short L[n][n], int t[n])
{
#pragma scop
    for (int i = 0; i < n; i++) {
        t[i] = 0;
        for (int k = 0; k <= i; k++) t[i] += L[i][k];
    }
#pragma endscop
}
