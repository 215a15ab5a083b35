// Bounds in variables whose expressions are long, as tools for tiling write them.
// sagen:
#define FL(n, d) (((n) < 0) ? -((-(n) + (d)-1) / (d)) : (n) / (d))
#define CE(n, d) (((n) < 0) ? -((-(n)) / (d)) : ((n) + (d)-1) / (d))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define N 20
#define K 36
void skewed(int a[N][K])
{
    int t, u, x, y, lo, hi;
#pragma scop
    for (t = 0; t <= FL(N + K - 2, 32); t++) {
        lo = LARGER(0, CE(32 * t - K + 1, 32));
        hi = SMALLER(FL(N - 1, 32), t);
        for (u = lo; u <= hi; u++)
            for (x = 32 * t - 32 * u; x <= SMALLER(K - 1, 32 * t - 32 * u + 31); x++)
                for (y = 32 * u; y <= SMALLER(N - 1, 32 * u + 31); y++)
                    a[y][x] = 2 * a[y][x] + 1;
    }
#pragma endscop
}
