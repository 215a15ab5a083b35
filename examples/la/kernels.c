// The thirty kernels of a generic accelerator for linear algebra (Derumigny et al., 2023, table 4), for one IP:
//   sagen rtl --board zcu104 examples/la/kernels.c --merge --grid 8
// `-D T=float` or `-D T=short` changes the type of the elements, `-D N=32` the size. Matrices are N x N.
#include <math.h>
#ifndef N
#define N 64
#endif
#ifndef T
#define T _Float16
#endif
#define ROOT(x) ((T)sqrtf((float)(x)))

// Products.
void mulmm(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      T sum = 0;
      for (int k = 0; k < N; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
void mulmv(const T A[N][N], const T x[N], T y[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    T sum = 0;
    for (int j = 0; j < N; j++)
      sum += A[i][j] * x[j];
    y[i] = sum;
  }
#pragma endscop
}
void multrmm(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      T sum = 0;
      for (int k = 0; k <= i; k++)
        sum += A[i][k] * B[k][j];
      C[i][j] = sum;
    }
#pragma endscop
}
void multrmv(const T A[N][N], const T x[N], T y[N]) {
#pragma scop
  for (int i = 0; i < N; i++) {
    T sum = 0;
    for (int j = 0; j <= i; j++)
      sum += A[i][j] * x[j];
    y[i] = sum;
  }
#pragma endscop
}
void mulsm(T alpha, const T A[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = alpha * A[i][j];
#pragma endscop
}
void multrsm(T alpha, const T A[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++)
      C[i][j] = alpha * A[i][j];
#pragma endscop
}
void mulsv(T alpha, const T x[N], T y[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = alpha * x[i];
#pragma endscop
}
void muls(const T a[1], const T b[1], T c[1]) {
#pragma scop
  for (int i = 0; i < 1; i++)
    c[i] = a[i] * b[i];
#pragma endscop
}
void pmulm(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = A[i][j] * B[i][j];
#pragma endscop
}
void pmulv(const T x[N], const T y[N], T z[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    z[i] = x[i] * y[i];
#pragma endscop
}
void oprodv(const T x[N], const T y[N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = x[i] * y[j];
#pragma endscop
}

// Sums and differences.
void addm(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = A[i][j] + B[i][j];
#pragma endscop
}
void addv(const T x[N], const T y[N], T z[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    z[i] = x[i] + y[i];
#pragma endscop
}
void adds(const T a[1], const T b[1], T c[1]) {
#pragma scop
  for (int i = 0; i < 1; i++)
    c[i] = a[i] + b[i];
#pragma endscop
}
void addtrm(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++)
      C[i][j] = A[i][j] + B[i][j];
#pragma endscop
}
void subm(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = A[i][j] - B[i][j];
#pragma endscop
}
void subcmv(const T A[N][N], const T x[N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = A[i][j] - x[j];
#pragma endscop
}
void subv(const T x[N], const T y[N], T z[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    z[i] = x[i] - y[i];
#pragma endscop
}
void subs(const T a[1], const T b[1], T c[1]) {
#pragma scop
  for (int i = 0; i < 1; i++)
    c[i] = a[i] - b[i];
#pragma endscop
}
void accsumcm(const T A[N][N], T y[N]) {
#pragma scop
  for (int j = 0; j < N; j++) {
    T sum = 0;
    for (int i = 0; i < N; i++)
      sum += A[i][j];
    y[j] = sum;
  }
#pragma endscop
}

// Roots and quotients.
void sqrtv(const T x[N], T y[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = ROOT(x[i]);
#pragma endscop
}
void sqrts(const T a[1], T c[1]) {
#pragma scop
  for (int i = 0; i < 1; i++)
    c[i] = ROOT(a[i]);
#pragma endscop
}
void divms(const T A[N][N], const T B[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = A[i][j] / B[i][j];
#pragma endscop
}
void divvs(const T x[N], const T y[N], T z[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    z[i] = x[i] / y[i];
#pragma endscop
}
void divcmv(const T A[N][N], const T x[N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = A[i][j] / x[j];
#pragma endscop
}

// Data movement.
void trm(const T A[N][N], T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[j][i] = A[i][j];
#pragma endscop
}
void cutminv(const T x[N], T y[N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    y[i] = x[i] < (T)0.1f ? (T)1 : x[i];
#pragma endscop
}
void set0m(T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = 0;
#pragma endscop
}
void setidm(T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      C[i][j] = i == j ? 1 : 0;
#pragma endscop
}
void setd1(T C[N][N]) {
#pragma scop
  for (int i = 0; i < N; i++)
    C[i][i] = 1;
#pragma endscop
}
