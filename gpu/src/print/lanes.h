// The values of a warp, for CUDA, HIP and the CPU.
//
// A Row<T, W> is one value for each of the 32 W PEs of a warp: W registers in each lane, PE = lane W + register. On a GPU it is
// W registers of the thread. On the CPU it holds the registers of all lanes, and every statement is executed by all lanes in
// lock-step. So the control flow of a kernel is alike in all lanes: what depends on the lane is a select or a masked store.
//
// On the CPU a register that no lane sends holds garbage, a word that is not aligned ends the program, and compilers find
// accesses beside an array (-fsanitize=address).
#pragma once
#define UNROLL _Pragma("unroll")
#if defined(__CUDACC__) || defined(__HIPCC__) || defined(__CUDACC_RTC__)
#define LANES_GPU 1
#endif

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

#ifdef LANES_GPU
#define MEMBER __device__ __forceinline__
#else
#define MEMBER inline
#endif
// Two values in the halves of a register, each extended to 16 bits.
template<class T> struct Pair {
  unsigned bits;
  Pair() = default;
  explicit MEMBER Pair(unsigned bits) : bits(bits) {}
};

// Four values in the bytes of a register.
template<class T> struct Quad {
  unsigned bits;
  Quad() = default;
  explicit MEMBER Quad(unsigned bits) : bits(bits) {}
};

#ifdef LANES_GPU
// ------------------------------------------------------------------------------------------------ a lane of a GPU
#define DEVICE static __device__ __forceinline__
#define KERNEL(threads) extern "C" __global__ void __launch_bounds__(threads)
// By a shuffle: so the compiler knows that all lanes have the same number, and holds what follows from it once for the warp.
#if defined(__HIPCC__)
#define WARP(warps) ((int)(blockIdx.x * (warps) + (threadIdx.x >> 5)))
#else
#define WARP(warps) ((int)(blockIdx.x * (warps) + __shfl_sync(0xffffffffu, threadIdx.x >> 5, 0)))
#endif
// A block whose warps share operands: threads 4 x warps x 8, so that the hardware's warps have 4 lanes of 8 warps each.
#if defined(__HIPCC__)
#define BOUNDED_KERNEL(threads, blocks) KERNEL(threads)
#else
#define BOUNDED_KERNEL(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
#endif
#define BLOCK(warps) ((int)blockIdx.x)
#define IN_BLOCK(warps) ((int)threadIdx.y)
#define SHARED __shared__
#define BARRIER() __syncthreads()
#define EVERY_THREAD(t, threads) for (int t = (int)(threadIdx.x + 4 * (threadIdx.y + 8 * threadIdx.z)), once_ = 1; once_; once_ = 0)
#define EVERY_LANE(l)
#define COUNT(kind, n)
template<class T> using V = T;
template<class T> DEVICE T &lane_of(T &v, int) { return v; }
template<class T> DEVICE const T &lane_of(const T &v, int) { return v; }
#ifdef LANES_BLOCK
DEVICE V<int> lane() { return (int)((threadIdx.x & 31) + 4 * threadIdx.z); }
#else
DEVICE V<int> lane() { return (int)(threadIdx.x & 31); }
#endif
template<class T> DEVICE void unset(T &v) { v = T(0); }
template<class T> DEVICE T moved(T v, int by) {
#if defined(__HIPCC__)
  return by > 0 ? __shfl_up(v, by, 32) : __shfl_down(v, -by, 32);
#else
  return by > 0 ? __shfl_up_sync(0xffffffffu, v, by) : __shfl_down_sync(0xffffffffu, v, -by);
#endif
}
// The value of the lane `by` lanes before.
template<class T> DEVICE T from_lane(T v, int by) {
  if (by == 0) return v;
  if (sizeof(T) < 4) return (T)moved((int)v, by);
  return moved(v, by);
}
template<class T> DEVICE Quad<T> from_lane(Quad<T> v, int by) { return Quad<T>(from_lane(v.bits, by)); }
template<class T> DEVICE Pair<T> from_lane(Pair<T> v, int by) { return Pair<T>(from_lane(v.bits, by)); }
// The value of the lane whose number differs in the bit `by`.
template<class T> DEVICE T across(T v, int by) {
#if defined(__HIPCC__)
  return (T)__shfl_xor(v, by, 32);
#else
  if (sizeof(T) < 4) return (T)__shfl_xor_sync(0xffffffffu, (int)v, by);
  return __shfl_xor_sync(0xffffffffu, v, by);
#endif
}
template<class T> DEVICE Pair<T> across(Pair<T> v, int by) { return Pair<T>(across(v.bits, by)); }
#else
// ------------------------------------------------------------------------------------------------ 32 lanes on the CPU
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define DEVICE static inline __attribute__((always_inline))
#define KERNEL(threads) static void
static thread_local int warp_number;
#define WARP(warps) (warp_number)
// Every warp loads what its block loads, as all threads of the block.
#define BOUNDED_KERNEL(threads, blocks) static void
#define BLOCK(warps) (warp_number / (warps))
#define IN_BLOCK(warps) (warp_number % (warps))
#define SHARED
#define BARRIER()
#define EVERY_THREAD(t, threads) for (int t = 0; t < threads; t++)
#define EVERY_LANE(l) for (int l = 0; l < 32; l++)
#define __restrict__
#ifdef LANES_COUNT
// Instructions that warps have executed on rows, of one register in all lanes each; those of all lanes alike do not count.
static struct { long long products, sums, others, selects, shuffles, loads, stores; } counted;
#define COUNT(kind, n) (void)(counted.kind += (n))
#else
#define COUNT(kind, n)
#endif
template<class T> DEVICE T garbage() {
  T t;
  memset((void *)&t, 0xA5, sizeof t);
  if (sizeof(T) == sizeof(bool)) memset((void *)&t, 1, 1);
  return t;
}
template<class T> struct alignas(64) V {
  T v[32];
  V() {}
  V(T s) { EVERY_LANE(l) v[l] = s; }
};
template<class T> DEVICE T &lane_of(V<T> &v, int l) { return v.v[l]; }
template<class T> DEVICE const T &lane_of(const V<T> &v, int l) { return v.v[l]; }
DEVICE V<int> lane() {
  V<int> out;
  EVERY_LANE(l) out.v[l] = l;
  return out;
}
template<class T> DEVICE void unset(V<T> &v) { v = V<T>(garbage<T>()); }
template<class T> DEVICE V<T> from_lane(const V<T> &a, int by) {
  V<T> out;
  COUNT(shuffles, by != 0);
  EVERY_LANE(l) out.v[l] = l - by >= 0 && l - by < 32 ? a.v[l - by] : garbage<T>();
  return out;
}
template<class T> DEVICE V<T> across(const V<T> &a, int by) {
  V<T> out;
  COUNT(shuffles, 1);
  EVERY_LANE(l) out.v[l] = a.v[l ^ by];
  return out;
}
#endif
#ifndef LANES_GPU
#define LANE_LOOP EVERY_LANE(l)
#else
#define LANE_LOOP for (int l = 0; l < 1; l++)
#endif

// ------------------------------------------------------------------------------------------------ numbers that follow from sizes
// For the host and the device.
#if defined(LANES_GPU) && !defined(__CUDACC_RTC__)
#define NUMBER static __host__ __device__ inline int
#elif defined(LANES_GPU)
#define NUMBER static __device__ inline int
#else
#define NUMBER static inline int
#endif
// Rounded down.
NUMBER quotient(int a, int b) { return a / b - (a % b < 0 ? 1 : 0); }
NUMBER least(int a, int b) { return a < b ? a : b; }
NUMBER greatest(int a, int b) { return a > b ? a : b; }

// ------------------------------------------------------------------------------------------------ operators of one value
// As C, with one result where C has none: integers wrap around; x / 0 is -1, x % 0 is x; a shift by the width or more gives 0
// or the sign; a float becomes the nearest integer that there is.
namespace one {
template<int bytes> struct bits_of { typedef unsigned t; };
template<> struct bits_of<8> { typedef unsigned long long t; };
#define WRAPPED(name, op) \
  template<class T> DEVICE T name(T a, T b) { \
    typedef typename bits_of<sizeof(T)>::t U; \
    return (T)((U)a op (U)b); \
  }
WRAPPED(add, +) WRAPPED(sub, -) WRAPPED(mul, *)
#if defined(LANES_GPU) && !defined(__HIPCC__)
// One rounding each: the compiler must not contract a * b + c.
DEVICE float add(float a, float b) { return __fadd_rn(a, b); }
DEVICE float sub(float a, float b) { return __fsub_rn(a, b); }
DEVICE float mul(float a, float b) { return __fmul_rn(a, b); }
DEVICE float div(float a, float b) { return __fdiv_rn(a, b); }
DEVICE float fma(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE float sqrt(float a) { return __fsqrt_rn(a); }
DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
DEVICE double sub(double a, double b) { return __dsub_rn(a, b); }
DEVICE double mul(double a, double b) { return __dmul_rn(a, b); }
DEVICE double div(double a, double b) { return __ddiv_rn(a, b); }
DEVICE double fma(double a, double b, double c) { return __fma_rn(a, b, c); }
DEVICE double sqrt(double a) { return __dsqrt_rn(a); }
#else
#if defined(__HIPCC__)
// clang contracts a * b + c by default, that of HIP's own __fmul_rn, too.
#pragma clang fp contract(off)
#endif
// On the CPU compiled with -ffp-contract=off.
#define FLOATS(T, suffix) \
  DEVICE T add(T a, T b) { return a + b; } \
  DEVICE T sub(T a, T b) { return a - b; } \
  DEVICE T mul(T a, T b) { return a * b; } \
  DEVICE T div(T a, T b) { return a / b; } \
  DEVICE T fma(T a, T b, T c) { return __builtin_fma##suffix(a, b, c); } \
  DEVICE T sqrt(T a) { return __builtin_sqrt##suffix(a); }
FLOATS(float, f) FLOATS(double, )
#endif
template<class T> DEVICE T div(T a, T b) { return b == T(0) ? (T)-1 : T(-1) < T(0) && b == T(-1) ? sub(T(0), a) : (T)(a / b); }
template<class T> DEVICE T rem(T a, T b) { return b == T(0) ? a : T(-1) < T(0) && b == T(-1) ? T(0) : (T)(a % b); }
template<class T> DEVICE T fma(T a, T b, T c) { return add(mul(a, b), c); }
template<class T> DEVICE T neg(T a) { return sub(T(0), a); }
DEVICE float neg(float a) { return -a; }
DEVICE double neg(double a) { return -a; }
template<class T> DEVICE T absolute(T a) { return a < T(0) ? neg(a) : a; }
#ifdef LANES_GPU
DEVICE float absolute(float a) { return ::fabsf(a); }
DEVICE double absolute(double a) { return ::fabs(a); }
#else
DEVICE float absolute(float a) { return __builtin_fabsf(a); }
DEVICE double absolute(double a) { return __builtin_fabs(a); }
#endif
template<class T> DEVICE T invert(T a) { return (T)~a; }
DEVICE bool invert(bool a) { return !a; }
// fminf and fmaxf: a NaN loses; of equal operands the first.
template<class T> DEVICE T min(T a, T b) { return b != b || a <= b ? a : b; }
template<class T> DEVICE T max(T a, T b) { return b != b || a >= b ? a : b; }
template<class T, class S> DEVICE T shl(T a, S n) {
  typedef typename bits_of<sizeof(T)>::t U;
  return n < S(0) || (unsigned long long)n >= 8 * sizeof(T) ? T(0) : (T)((U)a << (int)n);
}
template<class T, class S> DEVICE T shr(T a, S n) {
  return n < S(0) || (unsigned long long)n >= 8 * sizeof(T) ? (a < T(0) ? (T)-1 : T(0)) : (T)(a >> (int)n);
}
// Pairs: each half by itself. Arithmetic is of 16 bits.
template<class T> struct is_pair { static constexpr bool value = false; };
template<class T> struct is_pair<Pair<T>> { static constexpr bool value = true; };
#if defined(LANES_GPU) && !defined(__HIPCC__)
DEVICE Pair<int16_t> add_max(Pair<int16_t> a, Pair<int16_t> b, Pair<int16_t> c) {
  return Pair<int16_t>(__viaddmax_s16x2(a.bits, b.bits, c.bits));
}
DEVICE Pair<int16_t> add_min(Pair<int16_t> a, Pair<int16_t> b, Pair<int16_t> c) {
  return Pair<int16_t>(__viaddmin_s16x2(a.bits, b.bits, c.bits));
}
DEVICE Pair<int16_t> add_max_relu(Pair<int16_t> a, Pair<int16_t> b, Pair<int16_t> c) {
  return Pair<int16_t>(__viaddmax_s16x2_relu(a.bits, b.bits, c.bits));
}
DEVICE Pair<int16_t> add(Pair<int16_t> a, Pair<int16_t> b) {
  return Pair<int16_t>(__viaddmax_s16x2(a.bits, b.bits, 0x80008000u));
}
DEVICE Pair<int16_t> sub(Pair<int16_t> a, Pair<int16_t> b) { return Pair<int16_t>(__vsub2(a.bits, b.bits)); }
DEVICE Pair<int16_t> min(Pair<int16_t> a, Pair<int16_t> b) { return Pair<int16_t>(__vmins2(a.bits, b.bits)); }
DEVICE Pair<int16_t> max(Pair<int16_t> a, Pair<int16_t> b) { return Pair<int16_t>(__vmaxs2(a.bits, b.bits)); }
DEVICE unsigned differs(unsigned a, unsigned b) { return __vminu2(a ^ b, 0x10001u); }
#else
#define HALVES(name, expression) \
  DEVICE Pair<int16_t> name(Pair<int16_t> x, Pair<int16_t> y) { \
    unsigned bits = 0; \
    for (int h = 0; h < 2; h++) { \
      const int16_t a = (int16_t)(x.bits >> (16 * h)), b = (int16_t)(y.bits >> (16 * h)); \
      bits |= (unsigned)(uint16_t)(expression) << (16 * h); \
    } \
    return Pair<int16_t>(bits); \
  }
HALVES(add, a + b) HALVES(sub, a - b) HALVES(min, a < b ? a : b) HALVES(max, a > b ? a : b)
DEVICE Pair<int16_t> add_max(Pair<int16_t> a, Pair<int16_t> b, Pair<int16_t> c) { return max(add(a, b), c); }
DEVICE Pair<int16_t> add_min(Pair<int16_t> a, Pair<int16_t> b, Pair<int16_t> c) { return min(add(a, b), c); }
DEVICE Pair<int16_t> add_max_relu(Pair<int16_t> a, Pair<int16_t> b, Pair<int16_t> c) {
  return max(add_max(a, b, c), Pair<int16_t>(0));
}
DEVICE unsigned differs(unsigned a, unsigned b) {
  a ^= b;
  return (a & 0xffffu ? 1u : 0u) | (a >> 16 ? 0x10000u : 0u);
}
#endif
// C's conversion; from a float to an integer the nearest one.
template<class T> struct is_floating { static constexpr bool value = false; };
template<> struct is_floating<float> { static constexpr bool value = true; };
template<> struct is_floating<double> { static constexpr bool value = true; };
template<class T> struct is_bool { static constexpr bool value = false; };
template<> struct is_bool<bool> { static constexpr bool value = true; };
template<class T, class S> DEVICE T cast(S x) {
  if constexpr (is_pair<S>::value) return T(x.bits);
  else if constexpr (is_bool<T>::value) {
    return x != S(0);
  } else if constexpr (is_floating<S>::value && !is_floating<T>::value) {
    constexpr bool is_signed = T(-1) < T(0);
    constexpr int bits = 8 * sizeof(T) - (is_signed ? 1 : 0);
    const S above = (S)(1ull << (bits - 1)) * S(2);
    if (x != x) return T(0);
    if (x >= above) return (T)(is_signed ? ~0ull >> (65 - 8 * sizeof(T)) : ~0ull);
    if (x <= (is_signed ? -above : S(0))) return (T)(is_signed ? 1ull << (8 * sizeof(T) - 1) : 0ull);
  }
  if constexpr (!is_pair<S>::value) return (T)x;
}
}  // namespace one
template<class T> DEVICE Pair<bool> operator!=(Pair<T> a, Pair<T> b) { return Pair<bool>(one::differs(a.bits, b.bits)); }
template<class T> DEVICE Pair<bool> operator==(Pair<T> a, Pair<T> b) {
  return Pair<bool>(one::differs(a.bits, b.bits) ^ 0x10001u);
}
// One value in both halves; two values.
template<class T> DEVICE Pair<T> both(T a) { return Pair<T>((unsigned)(uint16_t)a * 0x10001u); }
template<class T> DEVICE Pair<T> both(T a, T b) { return Pair<T>((unsigned)(uint16_t)a | (unsigned)(uint16_t)b << 16); }
template<int half_, class T> DEVICE T half(Pair<T> a) { return (T)(a.bits >> (16 * half_)); }
// a where the condition is 1, b where it is 0.
template<class T> DEVICE Pair<T> pick(Pair<bool> when, Pair<T> a, Pair<T> b) {
  const unsigned mask = when.bits * 0xffffu;
  return Pair<T>((a.bits & mask) | (b.bits & ~mask));
}
// The same of two constants: by one multiplication, without a carry from half to half.
template<class T, T A, T B> DEVICE Pair<T> choose(Pair<bool> when) {
  constexpr unsigned a = (uint16_t)A, b = (uint16_t)B;
  if (a >= b) return Pair<T>(when.bits * (a - b) + b * 0x10001u);
  return Pair<T>((when.bits ^ 0x10001u) * (b - a) + a * 0x10001u);
}

// Four values as a quad; bytes of a quad, where a mask has them.
template<class T> DEVICE Quad<T> quad_of(T a, T b, T c, T d) {
  return Quad<T>((unsigned)(uint8_t)a | (unsigned)(uint8_t)b << 8 | (unsigned)(uint8_t)c << 16 | (unsigned)(uint8_t)d << 24);
}
template<class T> DEVICE Quad<T> operator&(Quad<T> a, Quad<T> b) { return Quad<T>(a.bits & b.bits); }
// The sum of the products of two quads, and c.
namespace one {
#if defined(LANES_GPU) && !defined(__HIPCC__)
DEVICE int32_t dot_quads(Quad<int8_t> a, Quad<int8_t> b, int32_t c) { return __dp4a((int)a.bits, (int)b.bits, c); }
DEVICE uint32_t dot_quads(Quad<uint8_t> a, Quad<uint8_t> b, uint32_t c) { return __dp4a(a.bits, b.bits, c); }
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx942__) || defined(__GFX11__)
DEVICE int32_t dot_quads(Quad<int8_t> a, Quad<int8_t> b, int32_t c) {
#ifdef __GFX11__
  return __builtin_amdgcn_sudot4(true, (int)a.bits, true, (int)b.bits, c, false);
#else
  return __builtin_amdgcn_sdot4((int)a.bits, (int)b.bits, c, false);
#endif
}
DEVICE uint32_t dot_quads(Quad<uint8_t> a, Quad<uint8_t> b, uint32_t c) { return __builtin_amdgcn_udot4(a.bits, b.bits, c, false); }
#else
#define DOT(T, Sum) \
  DEVICE Sum dot_quads(Quad<T> a, Quad<T> b, Sum c) { \
    Sum sum = 0; \
    for (int k = 0; k < 4; k++) sum += (Sum)(T)(a.bits >> (8 * k)) * (Sum)(T)(b.bits >> (8 * k)); \
    return add(sum, c); \
  }
DOT(int8_t, int32_t) DOT(uint8_t, uint32_t)
#endif
// A sum of the other sign has the same bits.
DEVICE uint32_t dot_quads(Quad<int8_t> a, Quad<int8_t> b, uint32_t c) { return (uint32_t)dot_quads(a, b, (int32_t)c); }
DEVICE int32_t dot_quads(Quad<uint8_t> a, Quad<uint8_t> b, int32_t c) { return (int32_t)dot_quads(a, b, (uint32_t)c); }
}  // namespace one

// ------------------------------------------------------------------------------------------------ rows
template<class T, int W> struct Row { V<T> v[W]; };
template<class T> struct same { typedef T t; };
template<class T> struct truth { typedef bool t; };
template<class T> struct truth<Pair<T>> { typedef Pair<bool> t; };
#define FOR_ALL UNROLL for (int r = 0; r < W; r++) LANE_LOOP
#define AT(x) lane_of((x).v[r], l)

template<int W, class T> DEVICE Row<T, W> all(T s) {
  Row<T, W> out;
  FOR_ALL AT(out) = s;
  return out;
}
template<int W, class T> DEVICE Row<T, W> all(const Row<T, W> &a) { return a; }
template<class T, int W> DEVICE void unset(Row<T, W> &a) { UNROLL for (int r = 0; r < W; r++) unset(a.v[r]); }
// A value that nothing uses.
template<class R> DEVICE R unused() {
  R out;
#ifndef LANES_GPU
  unset(out);
#endif
  return out;
}
template<class T, int W, int N> DEVICE void unset(Row<T, W> (&a)[N]) { UNROLL for (int k = 0; k < N; k++) unset(a[k]); }
// The numbers of the PEs.
template<int W> DEVICE Row<int, W> pes() {
  Row<int, W> out;
  const V<int> own = lane();
  FOR_ALL AT(out) = lane_of(own, l) * W + r;
  return out;
}

#define ROW_BINARY(name, function, Result, kind) \
  template<class T, int W> DEVICE Row<Result, W> name(const Row<T, W> &a, const Row<T, W> &b) { \
    Row<Result, W> out; \
    COUNT(kind, W); \
    FOR_ALL AT(out) = function(AT(a), AT(b)); \
    return out; \
  } \
  template<class T, int W> DEVICE Row<Result, W> name(const Row<T, W> &a, typename same<T>::t b) { \
    Row<Result, W> out; \
    COUNT(kind, W); \
    FOR_ALL AT(out) = function(AT(a), b); \
    return out; \
  } \
  template<class T, int W> DEVICE Row<Result, W> name(typename same<T>::t a, const Row<T, W> &b) { \
    Row<Result, W> out; \
    COUNT(kind, W); \
    FOR_ALL AT(out) = function(a, AT(b)); \
    return out; \
  }
#define BITS_AND(a, b) ((T)((a) & (b)))
#define BITS_OR(a, b) ((T)((a) | (b)))
#define BITS_XOR(a, b) ((T)((a) ^ (b)))
#define IS_EQUAL(a, b) ((a) == (b))
#define IS_OTHER(a, b) ((a) != (b))
#define IS_LESS(a, b) ((a) < (b))
#define IS_AT_MOST(a, b) ((a) <= (b))
#define IS_AT_LEAST(a, b) ((a) >= (b))
ROW_BINARY(operator+, one::add, T, sums) ROW_BINARY(operator-, one::sub, T, sums)
ROW_BINARY(operator*, one::mul, T, products)
ROW_BINARY(operator/, one::div, T, others) ROW_BINARY(operator%, one::rem, T, others)
ROW_BINARY(operator&, BITS_AND, T, others) ROW_BINARY(operator|, BITS_OR, T, others)
ROW_BINARY(operator^, BITS_XOR, T, others)
ROW_BINARY(operator==, IS_EQUAL, typename truth<T>::t, others) ROW_BINARY(operator!=, IS_OTHER, typename truth<T>::t, others)
ROW_BINARY(operator<, IS_LESS, typename truth<T>::t, others) ROW_BINARY(operator<=, IS_AT_MOST, typename truth<T>::t, others)
ROW_BINARY(operator>=, IS_AT_LEAST, typename truth<T>::t, others)
ROW_BINARY(min, one::min, T, others) ROW_BINARY(max, one::max, T, others)
template<class T, class S, int W> DEVICE Row<T, W> shl(const Row<T, W> &a, const Row<S, W> &n) {
  Row<T, W> out;
  COUNT(others, W);
  FOR_ALL AT(out) = one::shl(AT(a), AT(n));
  return out;
}
template<class T, class S, int W> DEVICE Row<T, W> shr(const Row<T, W> &a, const Row<S, W> &n) {
  Row<T, W> out;
  COUNT(others, W);
  FOR_ALL AT(out) = one::shr(AT(a), AT(n));
  return out;
}
#define ROW_UNARY(name, function) \
  template<class T, int W> DEVICE Row<T, W> name(const Row<T, W> &a) { \
    Row<T, W> out; \
    COUNT(others, W); \
    FOR_ALL AT(out) = function(AT(a)); \
    return out; \
  }
ROW_UNARY(operator-, one::neg) ROW_UNARY(operator~, one::invert) ROW_UNARY(sqrt, one::sqrt) ROW_UNARY(absolute, one::absolute)
template<class T, class S, int W> DEVICE Row<T, W> cast(const Row<S, W> &a) {
  Row<T, W> out;
  COUNT(others, W);
  FOR_ALL AT(out) = one::cast<T, S>(AT(a));
  return out;
}
template<class T, int W> DEVICE Row<T, W> fma(const Row<T, W> &a, const Row<T, W> &b, const Row<T, W> &c) {
  Row<T, W> out;
  COUNT(products, W);
  FOR_ALL AT(out) = one::fma(AT(a), AT(b), AT(c));
  return out;
}
template<class T, int W> DEVICE Row<T, W> select(const Row<bool, W> &when, const Row<T, W> &a, const Row<T, W> &b) {
  Row<T, W> out;
  COUNT(selects, W);
  FOR_ALL AT(out) = AT(when) ? AT(a) : AT(b);
  return out;
}
template<class T, int W> DEVICE Row<T, W> select(bool when, const Row<T, W> &a, const Row<T, W> &b) {
  Row<T, W> out;
  COUNT(selects, W);
  FOR_ALL AT(out) = when ? AT(a) : AT(b);
  return out;
}
// Pairs of all PEs.
template<class T, int W> DEVICE Row<Pair<T>, W> both(const Row<T, W> &a) {
  Row<Pair<T>, W> out;
  FOR_ALL AT(out) = both(AT(a));
  return out;
}
template<class T, int W> DEVICE Row<Pair<T>, W> both(const Row<T, W> &a, const Row<T, W> &b) {
  Row<Pair<T>, W> out;
  COUNT(others, W);
  FOR_ALL AT(out) = both(AT(a), AT(b));
  return out;
}
template<int half_, class T, int W> DEVICE Row<T, W> half(const Row<Pair<T>, W> &a) {
  Row<T, W> out;
  FOR_ALL AT(out) = half<half_>(AT(a));
  return out;
}
template<class T, int W> DEVICE Row<Pair<T>, W> pick(const Row<Pair<bool>, W> &when, const Row<Pair<T>, W> &a, const Row<Pair<T>, W> &b) {
  Row<Pair<T>, W> out;
  COUNT(selects, W);
  FOR_ALL AT(out) = pick(AT(when), AT(a), AT(b));
  return out;
}
template<class T, T A, T B, int W> DEVICE Row<Pair<T>, W> choose(const Row<Pair<bool>, W> &when) {
  Row<Pair<T>, W> out;
  COUNT(selects, W);
  FOR_ALL AT(out) = choose<T, A, B>(AT(when));
  return out;
}
// Their sum, where the lower half carries nothing to the upper one.
template<class T, int W> DEVICE Row<Pair<T>, W> add_carryless(const Row<Pair<T>, W> &a, const Row<Pair<T>, W> &b) {
  Row<Pair<T>, W> out;
  COUNT(sums, W);
  FOR_ALL AT(out) = Pair<T>(AT(a).bits + AT(b).bits);
  return out;
}
#define ROW_SUM(name) \
  template<class T, int W> DEVICE Row<T, W> name(const Row<T, W> &a, const Row<T, W> &b, const Row<T, W> &c) { \
    Row<T, W> out; \
    COUNT(sums, W); \
    FOR_ALL AT(out) = one::name(AT(a), AT(b), AT(c)); \
    return out; \
  }
ROW_SUM(add_max) ROW_SUM(add_min) ROW_SUM(add_max_relu)
// Quads of all PEs.
template<class T, int W> DEVICE Row<Quad<T>, W> quad_of(const Row<T, W> &a, const Row<T, W> &b, const Row<T, W> &c, const Row<T, W> &d) {
  Row<Quad<T>, W> out;
  COUNT(others, 2 * W);
  FOR_ALL AT(out) = quad_of(AT(a), AT(b), AT(c), AT(d));
  return out;
}
template<class T, class Sum, int W> DEVICE Row<Sum, W> dot_quads(const Row<Quad<T>, W> &a, const Row<Quad<T>, W> &b, const Row<Sum, W> &c) {
  Row<Sum, W> out;
  COUNT(products, W);
  FOR_ALL AT(out) = one::dot_quads(AT(a), AT(b), AT(c));
  return out;
}
// Entry of a table; the position wraps around at its size, a power of two.
template<class T, int N, int W, class S> DEVICE Row<T, W> lookup(const T (&table)[N], const Row<S, W> &at) {
  Row<T, W> out;
  COUNT(loads, W);
  FOR_ALL AT(out) = table[(unsigned long long)AT(at) & (N - 1)];
  return out;
}

// PE u gets the value of PE u - D: a renaming of registers, and |D| shuffles.
template<int D, class T, int W> DEVICE Row<T, W> hop(const Row<T, W> &a) {
  Row<T, W> out;
  UNROLL for (int r = 0; r < W; r++) {
    const int lanes = r < D ? (D - r + W - 1) / W : -((r - D) / W);
    out.v[r] = from_lane(a.v[r - D + lanes * W], lanes);
  }
  return out;
}
// Elements D, D + 1, … of two rows side by side in each lane.
template<int D, class T, int W> DEVICE Row<T, W> window(const Row<T, W> &a, const Row<T, W> &b) {
  Row<T, W> out;
  UNROLL for (int r = 0; r < W; r++) out.v[r] = D + r < W ? a.v[D + r < W ? D + r : 0] : b.v[D + r < W ? 0 : D + r - W];
  return out;
}

// The values of all PEs, joined.
#define FOLD(name, function) \
  template<class T, int W> DEVICE T fold_##name(const Row<T, W> &a) { \
    V<T> x = a.v[0]; \
    UNROLL for (int r = 1; r < W; r++) LANE_LOOP lane_of(x, l) = function(lane_of(x, l), AT(a)); \
    UNROLL for (int by = 16; by > 0; by /= 2) { \
      const V<T> y = across(x, by); \
      LANE_LOOP lane_of(x, l) = function(lane_of(x, l), lane_of(y, l)); \
    } \
    return lane_of(x, 0); \
  }
FOLD(add, one::add) FOLD(mul, one::mul) FOLD(min, one::min) FOLD(max, one::max)
FOLD(and, BITS_AND) FOLD(or, BITS_OR) FOLD(xor, BITS_XOR)

// ------------------------------------------------------------------------------------------------ memory
DEVICE int clamp(int x, int low, int high) { return x < low ? low : x > high ? high : x; }
template<int W> DEVICE Row<int, W> clamp(const Row<int, W> &x, int low, int high) {
  Row<int, W> out;
  FOR_ALL AT(out) = clamp(AT(x), low, high);
  return out;
}
template<int bytes> struct word {
  static constexpr int size = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
  static constexpr int count = bytes / size;
};
#ifdef LANES_GPU
template<int size> struct word_type;
template<> struct word_type<1> { typedef unsigned char t; };
template<> struct word_type<2> { typedef unsigned short t; };
template<> struct word_type<4> { typedef unsigned t; };
template<> struct word_type<8> { typedef uint2 t; };
template<> struct word_type<16> { typedef uint4 t; };
template<class T, int W> DEVICE void load_words(const T *p, Row<T, W> &out) {
  constexpr int size = word<W * sizeof(T)>::size, each = size / sizeof(T);
  typedef typename word_type<size>::t U;
  UNROLL for (int k = 0; k < W / each; k++) {
    union { U word; T e[each]; } u;
    u.word = __ldg((const U *)p + k);
    UNROLL for (int e = 0; e < each; e++) out.v[k * each + e] = u.e[e];
  }
}
template<class T, int W> DEVICE void store_words(T *p, const Row<T, W> &in) {
  constexpr int size = word<W * sizeof(T)>::size, each = size / sizeof(T);
  typedef typename word_type<size>::t U;
  UNROLL for (int k = 0; k < W / each; k++) {
    union { U word; T e[each]; } u;
    UNROLL for (int e = 0; e < each; e++) u.e[e] = in.v[k * each + e];
#if defined(LANES_STREAM) && !defined(__HIPCC__)
    __stcs((U *)p + k, u.word);
#elif defined(LANES_GPU) && !defined(__HIPCC__)
    __stwb((U *)p + k, u.word);  // a plain store of a union becomes one for each element
#else
    ((U *)p)[k] = u.word;
#endif
  }
}
#define TO_WORDS(p, out) load_words(p, out)
#define FROM_WORDS(p, in) store_words(p, in)
#else
template<class T, int W> DEVICE const T *aligned(const T *p) {
  if ((uintptr_t)p % word<W * sizeof(T)>::size) {
    fprintf(stderr, "a word of %d bytes is not aligned\n", (int)(W * sizeof(T)));
    exit(8);
  }
  return p;
}
#define TO_WORDS(p, out) do { const auto *from_ = aligned<T, W>(p); for (int r = 0; r < W; r++) AT(out) = from_[r]; } while (0)
#define FROM_WORDS(p, in) do { aligned<T, W>(p); for (int r = 0; r < W; r++) (p)[r] = AT(in); } while (0)
#endif
// A word of an array; W elements side by side in shared memory, in words.
#ifdef LANES_GPU
template<class Word, class T> DEVICE const Word *aligned_word(const T *p) { return (const Word *)p; }
#else
template<class Word, class T> DEVICE const Word *aligned_word(const T *p) { return (const Word *)aligned<T, sizeof(Word) / sizeof(T)>(p); }
#endif
template<class T, int W> struct Words { T e[W]; };
template<int W, class T> DEVICE Words<T, W> words_at(const T *p) {
  constexpr int each = word<W * sizeof(T)>::size / sizeof(T);
  struct alignas(each * sizeof(T)) Word { T v[each]; };
  Words<T, W> out;
  UNROLL for (int k = 0; k < W / each; k++) {
    const Word one = ((const Word *)p)[k];
    UNROLL for (int r = 0; r < each; r++) out.e[k * each + r] = one.v[r];
  }
  return out;
}
// p[at + u] for each PE u, in words of up to 16 bytes.
template<int W, class T> DEVICE Row<T, W> words(const T *p, long long at) {
  Row<T, W> out;
  COUNT(loads, word<W * sizeof(T)>::count);
  const V<int> own = lane();
  LANE_LOOP TO_WORDS(p + at + lane_of(own, l) * W, out);
  return out;
}
// p[at + u] for each PE u.
template<int W, class T> DEVICE Row<T, W> elements(const T *p, long long at) {
  Row<T, W> out;
  COUNT(loads, W);
  const V<int> own = lane();
  FOR_ALL AT(out) = p[at + lane_of(own, l) * W + r];
  return out;
}
// p[row + first + u], if first + u is in 0 .. extent - 1; else any element of the row.
template<int W, class T> DEVICE Row<T, W> words_in(const T *p, long long row, int first, int extent) {
  Row<T, W> out;
  COUNT(loads, word<W * sizeof(T)>::count);
  const V<int> own = lane();
  LANE_LOOP TO_WORDS(p + row + clamp(first + lane_of(own, l) * W, 0, extent - W), out);
  return out;
}
template<int W, class T> DEVICE Row<T, W> elements_in(const T *p, long long row, int first, int extent) {
  Row<T, W> out;
  COUNT(loads, W);
  const V<int> own = lane();
  FOR_ALL AT(out) = p[row + clamp(first + lane_of(own, l) * W + r, 0, extent - 1)];
  return out;
}
// p[index] for each PE.
template<class T, int W> DEVICE Row<T, W> gather(const T *p, const Row<int, W> &index) {
  Row<T, W> out;
  COUNT(loads, W);
  FOR_ALL AT(out) = p[AT(index)];
  return out;
}
// The quad at p[at]; at p[index] for each PE.
#ifdef LANES_GPU
template<class T> DEVICE Quad<T> quad_at(const T *p, long long at) { return Quad<T>(__ldg((const unsigned *)(p + at))); }
#else
template<class T> DEVICE Quad<T> quad_at(const T *p, long long at) {
  const T *own = aligned<T, 4>(p + at);
  return quad_of(own[0], own[1], own[2], own[3]);
}
#endif
template<class T, int W> DEVICE Row<Quad<T>, W> gather_quads(const T *p, const Row<int, W> &index) {
  Row<Quad<T>, W> out;
  COUNT(loads, W);
  FOR_ALL AT(out) = quad_at(p, AT(index));
  return out;
}
// Whole words by the lanes in which `when` holds for the first register.
template<class T, int W> DEVICE void store(const Row<bool, W> &when, T *p, long long at, const Row<T, W> &in) {
  const V<int> own = lane();
  COUNT(stores, word<W * sizeof(T)>::count);
  LANE_LOOP if (lane_of(when.v[0], l)) FROM_WORDS(p + at + lane_of(own, l) * W, in);
}
// Whole words by the lanes in which `when` holds for all registers, single elements by the others.
template<class T, int W> DEVICE void store_masked(const Row<bool, W> &when, T *p, long long at, const Row<T, W> &in) {
  const V<int> own = lane();
  COUNT(stores, word<W * sizeof(T)>::count);
  LANE_LOOP {
    bool whole = true;
    UNROLL for (int r = 0; r < W; r++) whole &= AT(when);
    if (whole) {
      FROM_WORDS(p + at + lane_of(own, l) * W, in);
    } else {
      UNROLL for (int r = 0; r < W; r++) if (AT(when)) p[at + lane_of(own, l) * W + r] = AT(in);
    }
  }
}
// Single elements.
template<class T, int W> DEVICE void store_elements(const Row<bool, W> &when, T *p, long long at, const Row<T, W> &in) {
  const V<int> own = lane();
  COUNT(stores, W);
  FOR_ALL if (AT(when)) p[at + lane_of(own, l) * W + r] = AT(in);
}
template<class T, int W> DEVICE void scatter(const Row<bool, W> &when, T *p, const Row<int, W> &index, const Row<T, W> &in) {
  COUNT(stores, W);
  FOR_ALL if (AT(when)) p[AT(index)] = AT(in);
}

// Operands that the warps of a block share: the elements of STEPS steps at PLACES places, in shared memory. If each warp has EACH
// of them, words of all warps stand side by side, so that lanes of different warps read different banks.
template<class T, int STEPS, int PLACES, int EACH> struct alignas(16) Tile {
  static constexpr int word = EACH * sizeof(T) % 16 == 0 ? 16 / sizeof(T) : 1;
  T v[STEPS][PLACES + 16 / sizeof(T)];
  static MEMBER int at(int x) {
    if constexpr (EACH == PLACES) return x;
    else return x % EACH / word * (PLACES / EACH * word) + x / EACH * word + x % word;
  }
};
// Elements of a tile on their way from an array. Each thread loads its words, along the steps or along the places; the element of
// step s and place x is p[s * step_stride + x * place_stride]. Subscripts beyond the array count as its last ones.
template<class T, int STEPS, int PLACES, int EACH, int THREADS, bool ALONG_STEPS, int WORD, bool INSIDE> struct Asked {
  static constexpr int words = STEPS * PLACES / WORD, each = (words + THREADS - 1) / THREADS;
  struct alignas(WORD * sizeof(T)) Word { T v[WORD]; };
#ifdef LANES_GPU
  Word own[each];
  MEMBER Word &of(int, int n) { return own[n]; }
#else
  Word own[THREADS][each];
  MEMBER Word &of(int t, int n) { return own[t][n]; }
#endif
  static MEMBER int step_of(int q) { return ALONG_STEPS ? q % (STEPS / WORD) * WORD : q / (PLACES / WORD); }
  static MEMBER int place_of(int q) { return ALONG_STEPS ? q / (STEPS / WORD) : q % (PLACES / WORD) * WORD; }
  static MEMBER int within(int x, int extent) { return INSIDE ? x : x < 0 ? 0 : x < extent ? x : extent - 1; }
  MEMBER void ask(const T *p, int step, int steps, int step_stride, int place, int places, int place_stride) {
    EVERY_THREAD(t, THREADS) UNROLL for (int n = 0; n < each; n++) {
      const int q = t + n * THREADS;
      if (words % THREADS && q >= words) continue;
      // The extent in whole words.
      const int s = within(step + step_of(q), ALONG_STEPS ? steps - WORD + 1 : steps);
      const int x = within(place + place_of(q), ALONG_STEPS ? places : places - WORD + 1);
      of(t, n) = *aligned_word<Word>(p + s * step_stride + x * place_stride);
    }
  }
  MEMBER void put(Tile<T, STEPS, PLACES, EACH> &tile) {
    EVERY_THREAD(t, THREADS) UNROLL for (int n = 0; n < each; n++) {
      const int q = t + n * THREADS;
      if (words % THREADS && q >= words) continue;
      const int s = step_of(q), x = tile.at(place_of(q));
      if (ALONG_STEPS) UNROLL for (int w = 0; w < WORD; w++) tile.v[s + (ALONG_STEPS ? w : 0)][x] = of(t, n).v[w];
      else *(Word *)&tile.v[s][x] = of(t, n);
    }
  }
};
// The same of quads whose values are in four rows of the array: the first one of step s is p[4 s * step_stride + x * place_stride].
template<class T, int STEPS, int PLACES, int EACH, int THREADS, int WORD, bool INSIDE> struct Across {
  static constexpr int words = STEPS * PLACES / WORD, each = (words + THREADS - 1) / THREADS;
  struct alignas(WORD * sizeof(T)) Word { T v[WORD]; };
#ifdef LANES_GPU
  Word own[each][4];
  MEMBER Word &of(int, int n, int e) { return own[n][e]; }
#else
  Word own[THREADS][each][4];
  MEMBER Word &of(int t, int n, int e) { return own[t][n][e]; }
#endif
  static MEMBER int within(int x, int extent) { return INSIDE ? x : x < 0 ? 0 : x < extent ? x : extent - 1; }
  MEMBER void ask(const T *p, int step, int steps, int step_stride, int place, int places, int place_stride) {
    EVERY_THREAD(t, THREADS) UNROLL for (int n = 0; n < each; n++) {
      const int q = t + n * THREADS;
      if (words % THREADS && q >= words) continue;
      const int x = within(place + q % (PLACES / WORD) * WORD, places - WORD + 1);
      UNROLL for (int e = 0; e < 4; e++) {
        const int s = within(step + q / (PLACES / WORD) * 4 + e, steps);
        of(t, n, e) = *aligned_word<Word>(p + s * step_stride + x * place_stride);
      }
    }
  }
  MEMBER void put(Tile<Quad<T>, STEPS, PLACES, EACH> &tile) {
    EVERY_THREAD(t, THREADS) UNROLL for (int n = 0; n < each; n++) {
      const int q = t + n * THREADS;
      if (words % THREADS && q >= words) continue;
      const int s = q / (PLACES / WORD), x = q % (PLACES / WORD) * WORD;
      struct alignas(WORD * 4) Quads { unsigned v[WORD]; } all;
      UNROLL for (int w = 0; w < WORD; w++) all.v[w] = quad_of(of(t, n, 0).v[w], of(t, n, 1).v[w], of(t, n, 2).v[w], of(t, n, 3).v[w]).bits;
      if (EACH == PLACES) *(Quads *)&tile.v[s][x] = all;
      else UNROLL for (int w = 0; w < WORD; w++) tile.v[s][tile.at(x + w)].bits = all.v[w];
    }
  }
};
// The elements of a step: of each PE, and those of a warp.
template<int W, class T, int STEPS, int PLACES> DEVICE Row<T, W> fed_row(const Tile<T, STEPS, PLACES, PLACES> &tile, int step) {
  Row<T, W> out;
  const V<int> own = lane();
  LANE_LOOP {
    const Words<T, W> all = words_at<W>(&tile.v[step][lane_of(own, l) * W]);
    UNROLL for (int r = 0; r < W; r++) AT(out) = all.e[r];
  }
  return out;
}
template<class T, int N> struct Elements { T v[N]; };
template<class T, int STEPS, int PLACES, int N> DEVICE Elements<T, N> fed_elements(const Tile<T, STEPS, PLACES, N> &tile, int step, int warp) {
  Elements<T, N> out;
  constexpr int each = Tile<T, STEPS, PLACES, N>::word;
  UNROLL for (int k = 0; k < N; k += each) {
    const Words<T, each> all = words_at<each>(&tile.v[step][tile.at(warp * N + k)]);
    UNROLL for (int r = 0; r < each; r++) out.v[k + r] = all.e[r];
  }
  return out;
}

// A row asked for, in the place of the one that is used: the place `slot`, or, if rows move, the last place.
template<bool moves, class R, int N> DEVICE void renew(R (&next)[N], int slot, const R &row) {
  if (moves) {
    UNROLL for (int k = 0; k + 1 < N; k++) next[k] = next[k + 1];
    next[N - 1] = row;
  } else {
    next[slot] = row;
  }
}

// The bodies of a step: whether steps and lanes may be at a border, and whether rows that are asked for move. Only steps without a
// border are unrolled, so that rows need not move in them. A ramp is inside, too, and does without values that no result needs.
struct Inside { static constexpr bool steps = false, lanes = false, moves = true, start = false, end = false; };
struct Border : Inside { static constexpr bool steps = true, lanes = true; };
struct Side : Inside { static constexpr bool lanes = true; };
struct Lanes : Inside { static constexpr bool lanes = true, moves = false; };
struct Interior : Inside { static constexpr bool moves = false; };
struct Start : Inside { static constexpr bool start = true; };
struct End : Inside { static constexpr bool end = true; };
