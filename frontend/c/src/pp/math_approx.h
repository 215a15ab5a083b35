// `expf`, `logf`, `sinf`, `cosf` and `tanhf` as polynomials (option `--math approx`). This text defines them: sagen
// inlines it into the region, and the C program of a simulation is compiled with it. Operations and constants are fp32.
// Errors: docs/operators.md; scripts/math_errors.sh measures them.
#include <math.h>

// 2^(k - 149), and infinity behind the last one.
static const float sagen_power[512] = {
    0x1p-149f, 0x1p-148f, 0x1p-147f, 0x1p-146f, 0x1p-145f, 0x1p-144f, 0x1p-143f, 0x1p-142f, 0x1p-141f, 0x1p-140f,
    0x1p-139f, 0x1p-138f, 0x1p-137f, 0x1p-136f, 0x1p-135f, 0x1p-134f, 0x1p-133f, 0x1p-132f, 0x1p-131f, 0x1p-130f,
    0x1p-129f, 0x1p-128f, 0x1p-127f, 0x1p-126f, 0x1p-125f, 0x1p-124f, 0x1p-123f, 0x1p-122f, 0x1p-121f, 0x1p-120f,
    0x1p-119f, 0x1p-118f, 0x1p-117f, 0x1p-116f, 0x1p-115f, 0x1p-114f, 0x1p-113f, 0x1p-112f, 0x1p-111f, 0x1p-110f,
    0x1p-109f, 0x1p-108f, 0x1p-107f, 0x1p-106f, 0x1p-105f, 0x1p-104f, 0x1p-103f, 0x1p-102f, 0x1p-101f, 0x1p-100f,
    0x1p-99f, 0x1p-98f, 0x1p-97f, 0x1p-96f, 0x1p-95f, 0x1p-94f, 0x1p-93f, 0x1p-92f, 0x1p-91f, 0x1p-90f, 0x1p-89f,
    0x1p-88f, 0x1p-87f, 0x1p-86f, 0x1p-85f, 0x1p-84f, 0x1p-83f, 0x1p-82f, 0x1p-81f, 0x1p-80f, 0x1p-79f, 0x1p-78f,
    0x1p-77f, 0x1p-76f, 0x1p-75f, 0x1p-74f, 0x1p-73f, 0x1p-72f, 0x1p-71f, 0x1p-70f, 0x1p-69f, 0x1p-68f, 0x1p-67f,
    0x1p-66f, 0x1p-65f, 0x1p-64f, 0x1p-63f, 0x1p-62f, 0x1p-61f, 0x1p-60f, 0x1p-59f, 0x1p-58f, 0x1p-57f, 0x1p-56f,
    0x1p-55f, 0x1p-54f, 0x1p-53f, 0x1p-52f, 0x1p-51f, 0x1p-50f, 0x1p-49f, 0x1p-48f, 0x1p-47f, 0x1p-46f, 0x1p-45f,
    0x1p-44f, 0x1p-43f, 0x1p-42f, 0x1p-41f, 0x1p-40f, 0x1p-39f, 0x1p-38f, 0x1p-37f, 0x1p-36f, 0x1p-35f, 0x1p-34f,
    0x1p-33f, 0x1p-32f, 0x1p-31f, 0x1p-30f, 0x1p-29f, 0x1p-28f, 0x1p-27f, 0x1p-26f, 0x1p-25f, 0x1p-24f, 0x1p-23f,
    0x1p-22f, 0x1p-21f, 0x1p-20f, 0x1p-19f, 0x1p-18f, 0x1p-17f, 0x1p-16f, 0x1p-15f, 0x1p-14f, 0x1p-13f, 0x1p-12f,
    0x1p-11f, 0x1p-10f, 0x1p-9f, 0x1p-8f, 0x1p-7f, 0x1p-6f, 0x1p-5f, 0x1p-4f, 0x1p-3f, 0x1p-2f, 0x1p-1f, 0x1p0f,
    0x1p1f, 0x1p2f, 0x1p3f, 0x1p4f, 0x1p5f, 0x1p6f, 0x1p7f, 0x1p8f, 0x1p9f, 0x1p10f, 0x1p11f, 0x1p12f, 0x1p13f,
    0x1p14f, 0x1p15f, 0x1p16f, 0x1p17f, 0x1p18f, 0x1p19f, 0x1p20f, 0x1p21f, 0x1p22f, 0x1p23f, 0x1p24f, 0x1p25f,
    0x1p26f, 0x1p27f, 0x1p28f, 0x1p29f, 0x1p30f, 0x1p31f, 0x1p32f, 0x1p33f, 0x1p34f, 0x1p35f, 0x1p36f, 0x1p37f,
    0x1p38f, 0x1p39f, 0x1p40f, 0x1p41f, 0x1p42f, 0x1p43f, 0x1p44f, 0x1p45f, 0x1p46f, 0x1p47f, 0x1p48f, 0x1p49f,
    0x1p50f, 0x1p51f, 0x1p52f, 0x1p53f, 0x1p54f, 0x1p55f, 0x1p56f, 0x1p57f, 0x1p58f, 0x1p59f, 0x1p60f, 0x1p61f,
    0x1p62f, 0x1p63f, 0x1p64f, 0x1p65f, 0x1p66f, 0x1p67f, 0x1p68f, 0x1p69f, 0x1p70f, 0x1p71f, 0x1p72f, 0x1p73f,
    0x1p74f, 0x1p75f, 0x1p76f, 0x1p77f, 0x1p78f, 0x1p79f, 0x1p80f, 0x1p81f, 0x1p82f, 0x1p83f, 0x1p84f, 0x1p85f,
    0x1p86f, 0x1p87f, 0x1p88f, 0x1p89f, 0x1p90f, 0x1p91f, 0x1p92f, 0x1p93f, 0x1p94f, 0x1p95f, 0x1p96f, 0x1p97f,
    0x1p98f, 0x1p99f, 0x1p100f, 0x1p101f, 0x1p102f, 0x1p103f, 0x1p104f, 0x1p105f, 0x1p106f, 0x1p107f, 0x1p108f,
    0x1p109f, 0x1p110f, 0x1p111f, 0x1p112f, 0x1p113f, 0x1p114f, 0x1p115f, 0x1p116f, 0x1p117f, 0x1p118f, 0x1p119f,
    0x1p120f, 0x1p121f, 0x1p122f, 0x1p123f, 0x1p124f, 0x1p125f, 0x1p126f, 0x1p127f, 1e39f, 1e39f};

// 2^n e^r with n = round(x / ln 2), |r| <= ln(2) / 2.
static float sagen_expf(float x) {
    float y = x > 89.0f ? 89.0f : x;
    y = y < -102.0f ? -102.0f : y;
    float f = y * 0x1.715476p+0f;
    int n = (int)(f < 0.0f ? f - 0.5f : f + 0.5f);
    float k = (float)n;
    float r = fmaf(k, 0x1.05c61p-29f, fmaf(k, -0x1.62e43p-1f, y));
    float q = fmaf(0x1.6bfd1p-10f, r, 0x1.12106cp-7f);
    q = fmaf(fmaf(fmaf(q, r, 0x1.55567p-5f), r, 0x1.5554d8p-3f), r, 0.5f);
    float p = fmaf(r * r, q, r) + 1.0f;
    return x < -102.0f ? 0.0f : (p + p) * sagen_power[(n + 148) & 511];
}

// (1 - 2 / (e^(2a) + 1)) with the sign of x and a = |x|; an odd polynomial for small a.
static float sagen_tanhf(float x) {
    float a = fabsf(x);
    float z = a * a;
    float q = fmaf(fmaf(-0x1.9ada46p-8f, z, 0x1.59e1c2p-6f), z, -0x1.b955dcp-5f);
    q = fmaf(fmaf(q, z, 0x1.110eep-3f), z, -0x1.555554p-2f);
    float small = fmaf(a * z, q, a);
    float large = 1.0f - 2.0f / (sagen_expf(a + a) + 1.0f);
    float t = a < 0.6f ? small : large;
    return x < 0.0f ? -t : t;
}

// The sine of x + quarter pi / 2: r = x - n pi / 2, |r| <= pi / 4.
static float sagen_quarter(float x, int quarter) {
    float y = fabsf(x) <= 65536.0f ? x : 0.0f;
    float f = y * 0x1.45f306p-1f;
    int n = (int)(f < 0.0f ? f - 0.5f : f + 0.5f);
    float k = (float)n;
    float r = fmaf(k, 0x1.ee59dap-50f, fmaf(k, 0x1.777a5cp-25f, fmaf(k, -0x1.921fb6p+0f, y)));
    float z = r * r;
    float a = fmaf(fmaf(fmaf(0x1.6da8ecp-19f, z, -0x1.a01366p-13f), z, 0x1.11110ep-7f), z, -0x1.555556p-3f);
    float b = fmaf(fmaf(fmaf(-0x1.251512p-22f, z, 0x1.a01594p-16f), z, -0x1.6c16cp-10f), z, 0x1.555556p-5f);
    float s = fmaf(r * z, a, r);
    float c = fmaf(z * z, b, fmaf(z, -0.5f, 1.0f));
    int m = n + quarter;
    float v = (m & 1) != 0 ? c : s;
    v = (m & 2) != 0 ? -v : v;
    return fabsf(x) <= 65536.0f ? v : 0.0f / 0.0f;
}
static float sagen_sinf(float x) { return sagen_quarter(x, 0); }
static float sagen_cosf(float x) { return sagen_quarter(x, 1); }

// k ln 2 + ln m with x = 2^k m, sqrt(1/2) < m <= sqrt(2). A binary search among the powers finds k.
static float sagen_logf(float x) {
    float y = x < 0x1p-126f ? x * 0x1p24f : x;
    int i = 23;
    i = y >= sagen_power[(i + 128) & 511] ? i + 128 : i;
    i = y >= sagen_power[(i + 64) & 511] ? i + 64 : i;
    i = y >= sagen_power[(i + 32) & 511] ? i + 32 : i;
    i = y >= sagen_power[(i + 16) & 511] ? i + 16 : i;
    i = y >= sagen_power[(i + 8) & 511] ? i + 8 : i;
    i = y >= sagen_power[(i + 4) & 511] ? i + 4 : i;
    i = y >= sagen_power[(i + 2) & 511] ? i + 2 : i;
    i = y >= sagen_power[(i + 1) & 511] ? i + 1 : i;
    float w = y * sagen_power[(298 - i) & 511];
    int half = w > 0x1.6a09e6p+0f;
    float m = half ? w * 0.5f : w;
    float k = (float)(i - 149 + half - (x < 0x1p-126f ? 24 : 0));
    float f = m - 1.0f;
    float z = f * f;
    float q = fmaf(fmaf(-0x1.4410d4p-4f, f, 0x1.02cbd6p-3f), f, -0x1.0a4404p-3f);
    q = fmaf(fmaf(fmaf(q, f, 0x1.23158cp-3f), f, -0x1.54ce74p-3f), f, 0x1.999f42p-3f);
    q = fmaf(fmaf(q, f, -0x1.0000d2p-2f), f, 0x1.555554p-2f);
    float t = fmaf(f * z, q, fmaf(k, -0x1.05c61p-29f, z * -0.5f)) + f;
    float l = fmaf(k, 0x1.62e43p-1f, t);
    float special = x == 0.0f ? -1.0f / 0.0f : 0.0f / 0.0f;
    return x > 0.0f ? (x > 0x1.fffffep+127f ? x : l) : special;
}

#define expf(x) sagen_expf(x)
#define logf(x) sagen_logf(x)
#define sinf(x) sagen_sinf(x)
#define cosf(x) sagen_cosf(x)
#define tanhf(x) sagen_tanhf(x)
