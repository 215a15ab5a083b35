// A skew is at most the number of iterations of its loop. //~ ERROR E0728 the loop `j` has 12 iterations
// sagen: --strip k=4 --skew j=9223372036854775807 --space i --order k,j
void lu(float A[12][12])
{
#pragma scop
    for (int k = 0; k < 12; k++)
        for (int i = k + 1; i < 12; i++) {
            A[i][k] = A[i][k] / A[k][k];
            for (int j = k + 1; j < 12; j++)
                A[i][j] = A[i][j] - A[i][k] * A[k][j];
        }
#pragma endscop
}
