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
struct bit_of;
template <int W, bool S>
struct part_of;

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

template <int W, bool S>
struct kind<bit_of<W, S>> {
  static const bool known = true;
  static const bool s = false;
  static const int w = 1;
};
template <int W, bool S>
struct kind<part_of<W, S>> {
  static const bool known = true;
  static const bool s = false;
  static const int w = W;
};
// Without GNU's dialect `wide` is no arithmetic type.
template <class T>
struct number : std::integral_constant<bool, std::is_arithmetic<T>::value || std::is_same<T, wide>::value> {};
template <class T>
struct plain : std::is_integral<T> {};
template <int W, bool S>
struct plain<bit_of<W, S>> : std::true_type {};

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
                                                !(plain<A>::value && plain<B>::value)> {};

template <int W, bool S>
struct ap {
  typedef typename cell<W, S>::type type;
  type v;

  static type fit(wide x) {
    const unsigned __int128 bits = (unsigned __int128)x << (128 - W);
    return S ? (type)((wide)bits >> (128 - W)) : (type)(bits >> (128 - W));
  }
  ap() = default;
  template <class T, class = typename std::enable_if<number<T>::value>::type>
  ap(T x) : v(fit((wide)x)) {}
  template <int V, bool R>
  ap(const ap<V, R> &x) : v(fit((wide)x.v)) {}
  template <int V, bool R>
  ap(const part_of<V, R> &x) : v(fit((wide)x.get().v)) {}
  template <int V, bool R>
  ap(const bit_of<V, R> &x) : v(fit((wide)(bool)x)) {}
  operator type() const { return v; }

  // Bits, as values and as targets.
  static unsigned __int128 ones(int h, int l) { return ((unsigned __int128)1 << (h - l + 1)) - 1; }
  ap<W, false> cut(int h, int l) const {
    return ap<W, false>((wide)(((unsigned __int128)(wide)v >> l) & ones(h, l)));
  }
  void paste(int h, int l, wide x) {
    const unsigned __int128 m = ones(h, l), old = (unsigned __int128)(wide)v;
    v = fit((wide)((old & ~(m << l)) | (((unsigned __int128)x & m) << l)));
  }
  bool operator[](int k) const { return ((wide)v >> k) & 1; }
  bit_of<W, S> operator[](int k) { return {this, k}; }
  bool bit(int k) const { return (*this)[k]; }
  bit_of<W, S> bit(int k) { return (*this)[k]; }
  bool test(int k) const { return ((wide)v >> k) & 1; }
  bool get_bit(int k) const { return ((wide)v >> k) & 1; }
  void set(int k) { paste(k, k, 1); }
  void clear(int k) { paste(k, k, 0); }
  ap<W, false> range(int h, int l) const { return cut(h, l); }
  part_of<W, S> range(int h, int l) { return {this, h, l}; }
  ap<W, false> operator()(int h, int l) const { return cut(h, l); }
  part_of<W, S> operator()(int h, int l) { return {this, h, l}; }
  int to_int() const { return (int)v; }
  unsigned to_uint() const { return (unsigned)v; }
  long to_long() const { return (long)v; }
  unsigned long to_ulong() const { return (unsigned long)v; }
  long long to_int64() const { return (long long)v; }
  unsigned long long to_uint64() const { return (unsigned long long)v; }
  bool to_bool() const { return v != 0; }
  int length() const { return W; }

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

// A bit, and bits next to one another.
template <int W, bool S>
struct bit_of {
  ap<W, S> *of;
  int k;
  operator bool() const { return ((wide)of->v >> k) & 1; }
  template <class T> bit_of &operator=(const T &x) { of->paste(k, k, value(x) != 0); return *this; }
  bit_of &operator=(const bit_of &x) { of->paste(k, k, (bool)x); return *this; }
  template <class T> bit_of &operator&=(const T &x) { return *this = (bool)*this & x; }
  template <class T> bit_of &operator|=(const T &x) { return *this = (bool)*this | x; }
  template <class T> bit_of &operator^=(const T &x) { return *this = (bool)*this ^ x; }
};
template <int W, bool S>
struct part_of {
  ap<W, S> *of;
  int h, l;
  ap<W, false> get() const { return of->cut(h, l); }
  operator typename ap<W, false>::type() const { return get().v; }
  int to_int() const { return get().to_int(); }
  unsigned to_uint() const { return get().to_uint(); }
  bool operator!() const { return !get(); }
  template <class T> part_of &operator=(const T &x) { of->paste(h, l, value(x)); return *this; }
  part_of &operator=(const part_of &x) { of->paste(h, l, value(x.get())); return *this; }
  template <class T> part_of &operator+=(const T &x) { return *this = get() + x; }
  template <class T> part_of &operator-=(const T &x) { return *this = get() - x; }
  template <class T> part_of &operator&=(const T &x) { return *this = get() & x; }
  template <class T> part_of &operator|=(const T &x) { return *this = get() | x; }
  template <class T> part_of &operator^=(const T &x) { return *this = get() ^ x; }
};
template <int W, bool S>
wide value(const bit_of<W, S> &x) { return (bool)x; }
template <int W, bool S>
wide value(const part_of<W, S> &x) { return (wide)x.get().v; }
template <int W, bool S>
auto operator~(const part_of<W, S> &x) -> decltype(~x.get()) { return ~x.get(); }
template <int W, bool S>
auto operator-(const part_of<W, S> &x) -> decltype(-x.get()) { return -x.get(); }
template <int W, bool S, class B>
ap<W, false> operator<<(const part_of<W, S> &a, const B &b) { return a.get() << b; }
template <int W, bool S, class B>
ap<W, false> operator>>(const part_of<W, S> &a, const B &b) { return a.get() >> b; }

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
