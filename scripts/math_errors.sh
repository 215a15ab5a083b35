#!/bin/bash
# Measures the errors of `--math approx` (frontend/c/src/pp/math_approx.h) against the C library's functions in double.
#   scripts/math_errors.sh [STEP]   every STEP-th fp32 number; 1, all of them, takes about three minutes
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cat >"$folder/errors.c" <<'C'
#include "math_approx.h"
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double ulp(double y) {
    int e;
    frexp(y, &e);
    return ldexp(1.0, e - 24 < -149 ? -149 : e - 24);
}
static void measure(const char *name, float (*f)(float), double (*exact)(double), float low, float high, uint64_t step) {
    double worst = 0, absolute = 0;
    for (uint64_t bits = 0; bits < 0x100000000ull; bits += step) {
        float x;
        uint32_t word = (uint32_t)bits;
        memcpy(&x, &word, 4);
        if (!(x >= low && x <= high)) continue;
        double y = exact(x), error = fabs((double)f(x) - y);
        if (error > absolute) absolute = error;
        if (error / ulp(y) > worst) worst = error / ulp(y);
    }
    printf("%-6s %.9g to %.9g: %.2f ulp, %.3g absolute\n", name, low, high, worst, absolute);
}
int main(int count, char **arguments) {
    uint64_t step = count > 1 ? strtoull(arguments[1], 0, 0) : 1;
    measure("expf", sagen_expf, exp, -87.3f, 88.7f, step);
    measure("expf", sagen_expf, exp, -1000.0f, -87.3f, step);
    measure("logf", sagen_logf, log, 0x1p-149f, 0x1.fffffep+127f, step);
    measure("sinf", sagen_sinf, sin, -65536, 65536, step);
    measure("cosf", sagen_cosf, cos, -65536, 65536, step);
    measure("tanhf", sagen_tanhf, tanh, -0x1.fffffep+127f, 0x1.fffffep+127f, step);
    return 0;
}
C
"${CC:-cc}" -O2 -w -ffp-contract=off -I frontend/c/src/pp "$folder/errors.c" -o "$folder/errors" -lm
"$folder/errors" "${1:-1}"
