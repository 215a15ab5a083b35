// Functions that are alike but for their arrays and operators: one set of feeders, collectors and relays.
// sagen: --merge --sequence 20
// sagen: --merge --queue 8 --overlap --sequence 40
#define N 16
void add(short A[N], short B[N], short C[N])
{
#pragma scop
    for (int i = 0; i < N; i++)
        C[i] = A[i] + B[i];
#pragma endscop
}

void weigh(short X[N], short Y[N], short Z[N])
{
#pragma scop
    for (int i = 0; i < N; i++)
        Z[i] = X[i] * Y[i];
#pragma endscop
}
