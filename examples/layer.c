// A convolution layer, one of a network: input channels, output channels, rows and columns, the kernel's size, and the stride are
// macros. `sagen explore examples/layer.c --network examples/vgg16.toml` seeks one array for all of them, or for those of
// resnet50.toml; `sagen rtl` with the same options builds them as one IP.
#include <stdint.h>

#ifndef O
#define O 16
#endif
#ifndef I
#define I 8
#endif
#ifndef S
#define S 7
#endif
#ifndef Q
#define Q 3
#endif
#ifndef T
#define T 1
#endif

void layer(int8_t X[T * (S - 1) + Q][T * (S - 1) + Q][I], int8_t W[O][Q][Q][I], int32_t Y[S][S][O]) {
#pragma scop
    for (int o = 0; o < O; o++)
        for (int r = 0; r < S; r++)
            for (int c = 0; c < S; c++) {
                Y[r][c][o] = 0;
                for (int i = 0; i < I; i++)
                    for (int p = 0; p < Q; p++)
                        for (int q = 0; q < Q; q++)
                            Y[r][c][o] += X[T * r + p][T * c + q][i] * W[o][p][q][i];
            }
#pragma endscop
}
