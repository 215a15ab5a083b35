// C++ that is C at heart: extern "C", references, int(x), constants as extents, default arguments, static_cast, using.
#include <cstdint>
#include <cmath>
using sample = std::int16_t;
using namespace std;
const int N = 12;
constexpr int TAPS = 3;
static inline int clipped(int x, int low = -100, int high = 100) { return x < low ? low : x > high ? high : x; }
static void add_to(int &sum, const int &x) { sum += x; }
extern "C" {
int helper(int x) noexcept { return x + 1; }
void kernel(const sample (&x)[N], sample y[N - TAPS + 1], const float &gain, int &total, bool enable = true, void *unused = nullptr)
{
  int count = 0;
#pragma scop
  total = 0;
  for (int i = 0; i < N - TAPS + 1; i++) {
    int s = int(0);
    for (int k = 0; k < TAPS; k++)
      s += int(x[i + k]) * (k + 1);
    y[i] = static_cast<sample>(enable ? clipped(s) : clipped(s, 0));
    add_to(total, helper(y[i]));
  }
  total = total + int(gain);
#pragma endscop
}
}
