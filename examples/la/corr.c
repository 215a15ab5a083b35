// The correlation of N columns of N samples, and its parts, in half precision, for one IP:
//   sagen rtl --board zcu104 examples/la/corr.c --merge
#include <math.h>
#ifndef N
#define N 64
#endif
#ifndef T
#define T _Float16
#endif

void center(const T X[N][N], T C[N][N])
{
    T mean[N];
#pragma scop
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += X[i][j];
        mean[j] = sum / (T)N;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            C[i][j] = X[i][j] - mean[j];
#pragma endscop
}

void stddev(const T X[N][N], T S[N])
{
    T mean[N];
#pragma scop
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += X[i][j];
        mean[j] = sum / (T)N;
    }
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        S[j] = sqrtf(sum / (T)N);
    }
#pragma endscop
}

void center_reduce(const T X[N][N], T R[N][N])
{
    T mean[N], norm[N];
#pragma scop
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += X[i][j];
        mean[j] = sum / (T)N;
    }
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        norm[j] = sqrtf(sum);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            R[i][j] = (X[i][j] - mean[j]) / norm[j];
#pragma endscop
}

void corr(const T X[N][N], T P[N][N])
{
    T mean[N], norm[N], R[N][N];
#pragma scop
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += X[i][j];
        mean[j] = sum / (T)N;
    }
    for (int j = 0; j < N; j++) {
        T sum = 0;
        for (int i = 0; i < N; i++)
            sum += (X[i][j] - mean[j]) * (X[i][j] - mean[j]);
        norm[j] = sqrtf(sum);
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            R[i][j] = (X[i][j] - mean[j]) / norm[j];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            T sum = 0;
            for (int k = 0; k < N; k++)
                sum += R[k][i] * R[k][j];
            P[i][j] = sum;
        }
#pragma endscop
}
