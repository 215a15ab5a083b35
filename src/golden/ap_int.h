// Integers of any width up to 64 bits, as far as sagen accepts them: `ap_int<W>` and `ap_uint<W>`. Results are as wide as
// they need to be (a sum of 8 bits has 9); an assignment keeps the low bits. In memory a value takes 1, 2, 4 or 8 bytes.
#ifndef SAGEN_AP_INT_H
#define SAGEN_AP_INT_H
#include <limits>
#include <type_traits>

namespace sagen {
typedef __int128 wide;

template <int W, bool S>
struct ap;

template <int W, bool S>
struct cell {
  typedef typename std::conditional<
      (W > 64), wide,
      typename std::conditional<
          (W > 32), typename std::conditional<S, long long, unsigned long long>::type,
          typename std::conditional<
              (W > 16), typename std::conditional<S, int, unsigned>::type,
              typename std::conditional<(W > 8), typename std::conditional<S, short, unsigned short>::type,
                                        typename std::conditional<S, signed char, unsigned char>::type>::type>::type>::
          type>::type type;
};

// Width and sign of the operands.
template <class T>
struct kind {
  static const bool known = std::is_integral<T>::value;
  static const bool s = std::is_signed<T>::value;
  static const int w = std::is_same<T, bool>::value ? 1 : int(sizeof(T)) * 8;
};
template <int W, bool S>
struct kind<ap<W, S>> {
  static const bool known = true;
  static const bool s = S;
  static const int w = W;
};

constexpr int larger(int a, int b) { return a > b ? a : b; }
constexpr int most(int w) { return w > 127 ? 127 : w; }

template <class A, class B>
struct common {
  static const bool s = kind<A>::s || kind<B>::s;
  static const int w = larger(kind<A>::w + (s && !kind<A>::s), kind<B>::w + (s && !kind<B>::s));
  typedef ap<most(w + 1), s> sum;
  typedef ap<most(w + 1), true> difference;
  typedef ap<most(kind<A>::w + kind<B>::w), s> product;
  typedef ap<most(kind<A>::w + kind<B>::s), s> quotient;
  typedef ap<most(w), s> bits;
};

template <class A, class B>
struct mixed : std::integral_constant<bool, kind<A>::known && kind<B>::known &&
                                                !(std::is_integral<A>::value && std::is_integral<B>::value)> {};

template <int W, bool S>
struct ap {
  typedef typename cell<W, S>::type type;
  type v;

  static type fit(wide x) {
    const unsigned __int128 bits = (unsigned __int128)x << (128 - W);
    return S ? (type)((wide)bits >> (128 - W)) : (type)(bits >> (128 - W));
  }
  ap() = default;
  template <class T, class = typename std::enable_if<std::is_arithmetic<T>::value>::type>
  ap(T x) : v(fit((wide)x)) {}
  template <int V, bool R>
  ap(const ap<V, R> &x) : v(fit((wide)x.v)) {}
  operator type() const { return v; }

  bool operator!() const { return v == 0; }
  ap operator+() const { return *this; }
  ap<most(W + 1), true> operator-() const { return ap<most(W + 1), true>(-(wide)v); }
  ap<most(W + !S), true> operator~() const { return ap<most(W + !S), true>(~(wide)v); }
  ap &operator++() { return *this = ap((wide)v + 1); }
  ap &operator--() { return *this = ap((wide)v - 1); }
  ap operator++(int) { ap old = *this; ++*this; return old; }
  ap operator--(int) { ap old = *this; --*this; return old; }
  template <class T> ap &operator+=(const T &x) { return *this = ap(*this + x); }
  template <class T> ap &operator-=(const T &x) { return *this = ap(*this - x); }
  template <class T> ap &operator*=(const T &x) { return *this = ap(*this * x); }
  template <class T> ap &operator/=(const T &x) { return *this = ap(*this / x); }
  template <class T> ap &operator%=(const T &x) { return *this = ap(*this % x); }
  template <class T> ap &operator&=(const T &x) { return *this = ap(*this & x); }
  template <class T> ap &operator|=(const T &x) { return *this = ap(*this | x); }
  template <class T> ap &operator^=(const T &x) { return *this = ap(*this ^ x); }
  template <class T> ap &operator<<=(const T &x) { return *this = *this << x; }
  template <class T> ap &operator>>=(const T &x) { return *this = *this >> x; }
};

template <class T>
wide value(const T &x) { return (wide)x; }
template <int W, bool S>
wide value(const ap<W, S> &x) { return (wide)x.v; }

#define SAGEN_OPERATOR(op, result)                                                                 \
  template <class A, class B, class = typename std::enable_if<mixed<A, B>::value>::type>           \
  typename common<A, B>::result operator op(const A &a, const B &b) {                              \
    return typename common<A, B>::result(value(a) op value(b));                                    \
  }
SAGEN_OPERATOR(+, sum)
SAGEN_OPERATOR(-, difference)
SAGEN_OPERATOR(*, product)
SAGEN_OPERATOR(/, quotient)
SAGEN_OPERATOR(%, bits)
SAGEN_OPERATOR(&, bits)
SAGEN_OPERATOR(|, bits)
SAGEN_OPERATOR(^, bits)
#undef SAGEN_OPERATOR
#define SAGEN_COMPARISON(op)                                                                       \
  template <class A, class B, class = typename std::enable_if<mixed<A, B>::value>::type>           \
  bool operator op(const A &a, const B &b) { return value(a) op value(b); }
SAGEN_COMPARISON(==)
SAGEN_COMPARISON(!=)
SAGEN_COMPARISON(<)
SAGEN_COMPARISON(<=)
SAGEN_COMPARISON(>)
SAGEN_COMPARISON(>=)
#undef SAGEN_COMPARISON
// A shifted value keeps the width of its left side.
template <int W, bool S, class B, class = typename std::enable_if<kind<B>::known>::type>
ap<W, S> operator<<(const ap<W, S> &a, const B &b) { return ap<W, S>(value(a) << value(b)); }
template <int W, bool S, class B, class = typename std::enable_if<kind<B>::known>::type>
ap<W, S> operator>>(const ap<W, S> &a, const B &b) { return ap<W, S>(value(a) >> value(b)); }
}  // namespace sagen

template <int W>
using ap_int = sagen::ap<W, true>;
template <int W>
using ap_uint = sagen::ap<W, false>;
#endif
