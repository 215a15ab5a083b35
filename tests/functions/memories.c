// Functions whose phases pass values on through memories of the IP: both have those of means and norms together, unless runs
// overlap.
// sagen: --board zcu104 --merge --grid 4 --sequence 12
// sagen: --board zcu104 --merge --grid 4 --queue 2 --overlap --sequence 8
#include <math.h>
#define N 16

void center_reduce(const _Float16 X[N][N], _Float16 R[N][N])
{
    _Float16 mean[N], norm[N];
#pragma scop
    for (int j = 0; j < N; j++) {
        _Float16 sum = 0;
        for (int i = 0; i < N; i++)
            sum += X[i][j];
        mean[j] = sum / (_Float16)N;
    }
    for (int j = 0; j < N; j++) {
        _Float16 sum = 0;
        for (int i = 0; i < N; i++)
            sum += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        norm[j] = sqrtf(sum);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            R[i][j] = (X[i][j] - mean[j]) / norm[j];
#pragma endscop
}

void corr(const _Float16 X[N][N], _Float16 P[N][N])
{
    _Float16 mean[N], norm[N], R[N][N];
#pragma scop
    for (int j = 0; j < N; j++) {
        _Float16 sum = 0;
        for (int i = 0; i < N; i++)
            sum += X[i][j];
        mean[j] = sum / (_Float16)N;
    }
    for (int j = 0; j < N; j++) {
        _Float16 sum = 0;
        for (int i = 0; i < N; i++)
            sum += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        norm[j] = sqrtf(sum);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            R[i][j] = (X[i][j] - mean[j]) / norm[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            _Float16 sum = 0;
            for (int k = 0; k < N; k++)
                sum += R[k][i] * R[k][j];
            P[i][j] = sum;
        }
#pragma endscop
}
