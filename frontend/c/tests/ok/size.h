#ifndef SIZE_H
#define SIZE_H
#if defined(LARGE) && LARGE > 1
#define N 12
#elif !defined N
#define N 7
#else
#error "N is given by this header"
#endif
#endif
