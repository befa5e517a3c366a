// The CUDA vocabulary for a C++ compiler: a block's threads take turns in one thread of the machine, each runs on until
// it waits for others, so that barriers and warp shuffles hold.
#pragma once
#ifdef __APPLE__  // without these, ucontext.h and sys/mman.h lack what is used here
#define _XOPEN_SOURCE 700
#define _DARWIN_C_SOURCE
#endif
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>
#include <sys/mman.h>
#include <ucontext.h>
using std::abs; using std::isnan; using std::isinf; using std::isfinite; using std::signbit;
#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __shared__ static
#define __grid_constant__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __CUDACC__ 1
template <class A, class B> static inline std::common_type_t<A, B> min(A a, B b) { typedef std::common_type_t<A, B> T; return (T)b < (T)a ? (T)b : (T)a; }
template <class A, class B> static inline std::common_type_t<A, B> max(A a, B b) { typedef std::common_type_t<A, B> T; return (T)a < (T)b ? (T)b : (T)a; }
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned int uint; typedef unsigned long ulong;
#ifdef __FLT16_MAX__
typedef _Float16 half; typedef _Float16 __half;
static inline float __half2float(half h) { return h; } static inline half __float2half(float f) { return f; }
static inline half __float2half_rn(float f) { return f; } static inline half __hadd(half a, half b) { return a + b; }
static inline half __hsub(half a, half b) { return a - b; } static inline half __hmul(half a, half b) { return a * b; }
static inline half __hdiv(half a, half b) { return a / b; } static inline half __hfma(half a, half b, half c) { return fmaf(a, b, c); }
static inline half __hneg(half a) { return -a; } static inline half __habs(half a) { return fabsf(a); } static inline half hrcp(half a) { return 1.0f / (float)a; }
static inline half __hmax(half a, half b) { return fmaxf(a, b); } static inline half __hmin(half a, half b) { return fminf(a, b); }
#define H(NAME, F) static inline half NAME(half a) { return F((float)a); }
H(hexp, expf) H(hexp2, exp2f) H(hlog, logf) H(hlog2, log2f) H(hsqrt, sqrtf) H(hrsqrt, 1 / sqrtf) H(hsin, sinf) H(hcos, cosf) H(htanh, tanhf)
#undef H
#endif
// bfloat16: the upper half of a float, rounded to the nearest, ties to even
struct __nv_bfloat16 {
  unsigned short bits_ = 0;
  __nv_bfloat16() = default;
  __nv_bfloat16(float f) { unsigned u; std::memcpy(&u, &f, 4); bits_ = f != f ? 0x7fff : (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16); }
  operator float() const { unsigned u = (unsigned)bits_ << 16; float f; std::memcpy(&f, &u, 4); return f; }
  __nv_bfloat16 &operator+=(float f) { return *this = *this + f; } __nv_bfloat16 &operator-=(float f) { return *this = *this - f; }
  __nv_bfloat16 &operator*=(float f) { return *this = *this * f; } __nv_bfloat16 &operator/=(float f) { return *this = *this / f; }
};
typedef __nv_bfloat16 nv_bfloat16; typedef __nv_bfloat16 hip_bfloat16;
#define B(NAME, X) static inline __nv_bfloat16 NAME(__nv_bfloat16 a, __nv_bfloat16 b) { return __nv_bfloat16((float)a X (float)b); }
B(operator+, +) B(operator-, -) B(operator*, *) B(operator/, /) B(__hadd, +) B(__hsub, -) B(__hmul, *) B(__hdiv, /)
#undef B
static inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) { return fmaf(a, b, c); }
// pairs of numbers of 16 bits
#define P(T, E, NAME, ONE) \
  struct alignas(4) T { E x, y; }; static inline T make_##T(E x, E y) { return {x, y}; } \
  static inline T operator+(T a, T b) { return {__hadd(a.x, b.x), __hadd(a.y, b.y)}; } static inline T operator-(T a, T b) { return {__hsub(a.x, b.x), __hsub(a.y, b.y)}; } \
  static inline T operator*(T a, T b) { return {__hmul(a.x, b.x), __hmul(a.y, b.y)}; } static inline T operator/(T a, T b) { return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)}; } \
  static inline T __hadd2(T a, T b) { return a + b; } static inline T __hsub2(T a, T b) { return a - b; } static inline T __hmul2(T a, T b) { return a * b; } \
  static inline T __h2div(T a, T b) { return a / b; } static inline T __hfma2(T a, T b, T c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; } \
  static inline T __halves2##NAME(E x, E y) { return {x, y}; } static inline T ONE(E x) { return {x, x}; } \
  static inline T __float2##NAME##_rn(float x) { return {(E)x, (E)x}; } static inline T __floats2##NAME##_rn(float x, float y) { return {(E)x, (E)y}; } \
  static inline float __low2float(T a) { return a.x; } static inline float __high2float(T a) { return a.y; }
#ifdef __FLT16_MAX__
P(half2, half, half2, __half2half2)
typedef half2 __half2;
static inline half2 __hneg2(half2 a) { return {__hneg(a.x), __hneg(a.y)}; } static inline half2 __habs2(half2 a) { return {__habs(a.x), __habs(a.y)}; }
static inline half2 __hmax2(half2 a, half2 b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; } static inline half2 __hmin2(half2 a, half2 b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }
static inline half __low2half(half2 a) { return a.x; } static inline half __high2half(half2 a) { return a.y; }
#define H(NAME, F) static inline half2 NAME(half2 a) { return {F(a.x), F(a.y)}; }
H(h2exp, hexp) H(h2exp2, hexp2) H(h2log, hlog) H(h2sqrt, hsqrt) H(h2rsqrt, hrsqrt) H(h2sin, hsin) H(h2cos, hcos) H(h2rcp, hrcp) H(h2tanh, htanh)
#undef H
#endif
P(__nv_bfloat162, __nv_bfloat16, bfloat162, __bfloat162bfloat162)
#undef P
typedef __nv_bfloat162 nv_bfloat162;
static inline float __bfloat162float(__nv_bfloat16 b) { return b; } static inline __nv_bfloat16 __float2bfloat16(float f) { return f; }
static inline __nv_bfloat16 __float2bfloat16_rn(float f) { return f; }
#define V(T, E) \
  struct T##1 { E x; }; struct alignas(2 * sizeof(E)) T##2 { E x, y; }; struct T##3 { E x, y, z; }; struct alignas(sizeof(E) < 8 ? 4 * sizeof(E) : 16) T##4 { E x, y, z, w; }; \
  static inline T##1 make_##T##1(E x) { return {x}; } static inline T##2 make_##T##2(E x, E y) { return {x, y}; } \
  static inline T##3 make_##T##3(E x, E y, E z) { return {x, y, z}; } static inline T##4 make_##T##4(E x, E y, E z, E w) { return {x, y, z, w}; }
V(char, signed char) V(uchar, unsigned char) V(short, short) V(ushort, unsigned short) V(int, int) V(uint, unsigned)
V(long, long) V(ulong, unsigned long) V(longlong, long long) V(ulonglong, unsigned long long) V(float, float) V(double, double)
#undef V
#ifdef __FLT16_MAX__
static inline float2 __half22float2(half2 a) { return {(float)a.x, (float)a.y}; } static inline half2 __float22half2_rn(float2 a) { return {(half)a.x, (half)a.y}; }
#endif
static inline float2 __bfloat1622float2(__nv_bfloat162 a) { return {(float)a.x, (float)a.y}; }
static inline __nv_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
struct dim3 { unsigned x, y, z; constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
static uint3 threadIdx, blockIdx;
static dim3 blockDim, gridDim;
static const int warpSize = 32;
#define hipThreadIdx_x threadIdx.x
#define hipThreadIdx_y threadIdx.y
#define hipThreadIdx_z threadIdx.z
#define hipBlockIdx_x blockIdx.x
#define hipBlockIdx_y blockIdx.y
#define hipBlockIdx_z blockIdx.z
#define hipBlockDim_x blockDim.x
#define hipBlockDim_y blockDim.y
#define hipBlockDim_z blockDim.z
#define hipGridDim_x gridDim.x
#define hipGridDim_y gridDim.y
#define hipGridDim_z gridDim.z
// barriers and warps
struct Thread_ { ucontext_t at; bool done; };
static Thread_ *now_;
static ucontext_t turns_;
static bool went_on_;  // whether a thread had something to do since all were asked last
static inline void yield_() { swapcontext(&now_->at, &turns_); }
struct Barrier_ {
  int awaited, here = 0; unsigned round = 0;
  void open_() { here = 0; ++round; went_on_ = true; }
  void arrive_and_wait() { if (++here == awaited) open_(); else for (unsigned r = round; r == round;) yield_(); }
  void arrive_and_drop() { if (--awaited && here == awaited) open_(); }
};
static Barrier_ *block_bar_, *warp_bar_[64];
static int lane_, warp_;
alignas(16) static unsigned char slots_[64][32][16];
static long long votes_[3];
static inline void __syncthreads() { block_bar_->arrive_and_wait(); }
static inline int sync_votes_(int p, int which) {
  __syncthreads(); if (!threadIdx.x && !threadIdx.y && !threadIdx.z) votes_[0] = votes_[1] = 0;
  __syncthreads(); votes_[0] += p != 0; votes_[1] += p == 0;
  __syncthreads(); long long yes = votes_[0], no = votes_[1]; __syncthreads(); return which == 0 ? yes : which == 1 ? !no : yes > 0; }
static inline int __syncthreads_count(int p) { return sync_votes_(p, 0); }
static inline int __syncthreads_and(int p) { return sync_votes_(p, 1); }
static inline int __syncthreads_or(int p) { return sync_votes_(p, 2); }
static inline void __syncwarp(unsigned = ~0u) { warp_bar_[warp_]->arrive_and_wait(); }
template <class T> static T exchange_(T v, int from) {
  static_assert(sizeof(T) <= 16); std::memcpy(slots_[warp_][lane_], &v, sizeof v); __syncwarp();
  T r; std::memcpy(&r, slots_[warp_][from], sizeof r); __syncwarp(); return r; }
template <class T> static T __shfl_sync(unsigned, T v, int s, int w = 32) { return exchange_(v, lane_ / w * w + (s % w + w) % w); }
template <class T> static T __shfl_down_sync(unsigned, T v, int d, int w = 32) { return exchange_(v, lane_ % w + d < w ? lane_ + d : lane_); }
template <class T> static T __shfl_up_sync(unsigned, T v, int d, int w = 32) { return exchange_(v, lane_ % w >= d ? lane_ - d : lane_); }
template <class T> static T __shfl_xor_sync(unsigned, T v, int d, int w = 32) { return exchange_(v, (lane_ ^ d) / w <= lane_ / w ? lane_ ^ d : lane_); }
template <class T> static T __shfl(T v, int s, int w = 32) { return __shfl_sync(~0u, v, s, w); }
template <class T> static T __shfl_down(T v, int d, int w = 32) { return __shfl_down_sync(~0u, v, d, w); }
template <class T> static T __shfl_up(T v, int d, int w = 32) { return __shfl_up_sync(~0u, v, d, w); }
template <class T> static T __shfl_xor(T v, int d, int w = 32) { return __shfl_xor_sync(~0u, v, d, w); }
static inline unsigned __ballot_sync(unsigned m, int p) {
  unsigned r = 0, mine = p ? 1u << lane_ : 0;
  for (int i = 0; i < 32; i++) slots_[warp_][i][8] = 0;  // lanes that are not there vote no
  __syncwarp(); slots_[warp_][lane_][8] = mine != 0; __syncwarp();
  for (int i = 0; i < 32; i++) r |= (unsigned)slots_[warp_][i][8] << i;
  __syncwarp(); return r & m; }
static inline int __any_sync(unsigned m, int p) { return __ballot_sync(m, p) != 0; }
static inline int __all_sync(unsigned m, int p) { return __ballot_sync(m, !p) == 0; }
static inline unsigned __activemask() { return __ballot_sync(~0u, 1); }
static inline void __threadfence() { if (now_) { went_on_ = true; yield_(); } }  // it may wait for what others store
static inline void __threadfence_block() { __threadfence(); } static inline void __threadfence_system() { __threadfence(); }
// atomics
#define A_(NAME, NEW) template <class T, class U> static T NAME(T *p, U u) { T o = *p, v = (T)u; *p = NEW; return o; }
#define A(NAME, NEW) A_(NAME, NEW) A_(NAME##_block, NEW) A_(NAME##_system, NEW)
A(atomicAdd, (T)(o + v)) A(atomicSub, (T)(o - v)) A(atomicMax, o < v ? v : o) A(atomicMin, v < o ? v : o) A(atomicExch, v)
A(atomicAnd, (T)(o & v)) A(atomicOr, (T)(o | v)) A(atomicXor, (T)(o ^ v)) A(atomicInc, o >= v ? 0 : o + 1) A(atomicDec, o == 0 || o > v ? v : o - 1)
#undef A
#undef A_
template <class T, class U, class W> static T atomicCAS(T *p, U c, W v) { T o = *p; if (o == (T)c) *p = (T)v; return o; }
#define atomicCAS_block atomicCAS
#define atomicCAS_system atomicCAS
// integers
static inline int __mul24(int a, int b) { return a * b; } static inline unsigned __umul24(unsigned a, unsigned b) { return a * b; }
static inline int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)(((unsigned __int128)a * b) >> 64); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); } static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(int x) { return x ? __builtin_clz(x) : 32; } static inline int __clzll(long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(int x) { return __builtin_ffs(x); } static inline int __ffsll(long long x) { return __builtin_ffsll(x); }
static inline unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= ((x >> i) & 1u) << (31 - i); return r; }
static inline unsigned long long __brevll(unsigned long long x) { return ((unsigned long long)__brev((unsigned)x) << 32) | __brev((unsigned)(x >> 32)); }
static inline unsigned __sad(int a, int b, unsigned c) { return (a > b ? (unsigned)a - b : (unsigned)b - a) + c; }
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static inline int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { s &= 31; return s ? hi << s | lo >> (32 - s) : hi; }
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { s &= 31; return s ? lo >> s | hi << (32 - s) : lo; }
static inline unsigned __byte_perm(unsigned x, unsigned y, unsigned s) { unsigned long long v = ((unsigned long long)y << 32) | x; unsigned r = 0; for (int i = 0; i < 4; i++) r |= (unsigned)((v >> (8 * ((s >> (4 * i)) & 7))) & 0xff) << (8 * i); return r; }
template <class T> static T __dp4a(T a, T b, T c) { for (int k = 0; k < 32; k += 8) { unsigned x = (unsigned)a >> k & 255, y = (unsigned)b >> k & 255; c += T(-1) < T(0) ? (T)((signed char)x * (signed char)y) : (T)(x * y); } return c; }
template <class T> static T __ldg(const T *p) { return *p; }
// floats; some newer C libraries have the first ones too
#define rsqrtf kr_rsqrtf
#define rsqrt kr_rsqrt
#define rcbrtf kr_rcbrtf
#define rcbrt kr_rcbrt
#define exp10f kr_exp10f
#define exp10 kr_exp10
#define sinpif kr_sinpif
#define sinpi kr_sinpi
#define cospif kr_cospif
#define cospi kr_cospi
#define sincosf kr_sincosf
#define sincos kr_sincos
static const double pi_ = 3.14159265358979323846;
#define F(NAME, X) static inline float NAME##f(float x) { return (float)(X); } static inline double NAME(double x) { return X; }
F(rsqrt, 1 / sqrt(x)) F(rcbrt, 1 / cbrt(x)) F(exp10, pow(10.0, x)) F(sinpi, sin(pi_ * x)) F(cospi, cos(pi_ * x))
F(normcdf, 0.5 * erfc(-x / 1.41421356237309504880)) F(erfcx, exp(x * x) * erfc(x))
#undef F
static inline float rsqrt(float x) { return rsqrtf(x); }
static inline void sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
static inline void sincos(double x, double *s, double *c) { *s = sin(x); *c = cos(x); }
static inline void sincospif(float x, float *s, float *c) { *s = sinpif(x); *c = cospif(x); }
static inline void __sincosf(float x, float *s, float *c) { *s = sinf(x); *c = cosf(x); }
static inline float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
static inline double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
static inline float rnorm3df(float a, float b, float c) { return 1 / norm3df(a, b, c); }
static inline float rhypotf(float a, float b) { return 1 / hypotf(a, b); } static inline double rhypot(double a, double b) { return 1 / hypot(a, b); }
static inline float __saturatef(float x) { return x != x ? 0 : x < 0 ? 0 : x > 1 ? 1 : x; }
#define F(NAME, CALL) static inline float NAME(float x) { return CALL(x); }
F(__expf, expf) F(__logf, logf) F(__log2f, log2f) F(__log10f, log10f) F(__sinf, sinf) F(__cosf, cosf) F(__tanf, tanf) F(__exp10f, exp10f)
F(__fsqrt_rn, sqrtf) F(__frsqrt_rn, rsqrtf) F(__fsqrt_rz, sqrtf) F(__tanhf, tanhf)
#undef F
static inline float __powf(float a, float b) { return powf(a, b); } static inline float __fdividef(float a, float b) { return a / b; }
static inline float __frcp_rn(float a) { return 1 / a; } static inline double __drcp_rn(double a) { return 1 / a; } static inline double __dsqrt_rn(double a) { return sqrt(a); }
#define F(OP, X) static inline float __f##OP##_rn(float a, float b) { return X; } static inline double __d##OP##_rn(double a, double b) { return X; }
F(add, a + b) F(sub, a - b) F(mul, a * b) F(div, a / b)
#undef F
static inline float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); } static inline double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
template <class T, class R> static T to_(R x) {  // CUDA saturates; C++ does not say
  if (x != x) return 0; if (x <= (R)std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  if (x >= (R)std::numeric_limits<T>::max()) return std::numeric_limits<T>::max(); return (T)x; }
#define C(FROM, NAME, TO, T) \
  static inline T __##NAME##2##TO##_rn(FROM x) { return to_<T>(std::nearbyint(x)); } static inline T __##NAME##2##TO##_rz(FROM x) { return to_<T>(std::trunc(x)); } \
  static inline T __##NAME##2##TO##_rd(FROM x) { return to_<T>(std::floor(x)); } static inline T __##NAME##2##TO##_ru(FROM x) { return to_<T>(std::ceil(x)); }
C(float, float, int, int) C(float, float, uint, unsigned) C(float, float, ll, long long) C(float, float, ull, unsigned long long)
C(double, double, int, int) C(double, double, uint, unsigned) C(double, double, ll, long long) C(double, double, ull, unsigned long long)
#undef C
#define C(NAME, FROM, TO, T) static inline T __##NAME##2##TO##_rn(FROM x) { return (T)x; }
C(int, int, float, float) C(uint, unsigned, float, float) C(ll, long long, float, float) C(ull, unsigned long long, float, float)
C(int, int, double, double) C(uint, unsigned, double, double) C(ll, long long, double, double) C(ull, unsigned long long, double, double) C(double, double, float, float)
#undef C
static inline double __int2double(int x) { return x; }
template <class T, class R> static T bits_(R x) { T r; static_assert(sizeof r == sizeof x); std::memcpy(&r, &x, sizeof r); return r; }
static inline int __float_as_int(float x) { return bits_<int>(x); } static inline float __int_as_float(int x) { return bits_<float>(x); }
static inline unsigned __float_as_uint(float x) { return bits_<unsigned>(x); } static inline float __uint_as_float(unsigned x) { return bits_<float>(x); }
static inline long long __double_as_longlong(double x) { return bits_<long long>(x); } static inline double __longlong_as_double(long long x) { return bits_<double>(x); }
static inline int __double2hiint(double x) { return (int)(bits_<long long>(x) >> 32); } static inline int __double2loint(double x) { return (int)bits_<long long>(x); }
static inline double __hiloint2double(int h, int l) { return bits_<double>((long long)h << 32 | (unsigned)l); }
#define CUDART_INF_F std::numeric_limits<float>::infinity()
#define CUDART_INF std::numeric_limits<double>::infinity()
#define CUDART_NAN_F std::numeric_limits<float>::quiet_NaN()
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931e+0
#define __trap abort
// the launch
template <class F> struct Turn_ {
  static inline F *body;
  static void run() { (*body)(); now_->done = went_on_ = true; block_bar_->arrive_and_drop(); warp_bar_[warp_]->arrive_and_drop(); }
};
template <class F> static void launch_(F f, const int *g, bool meet) {
  gridDim = dim3(g[0], g[1], g[2]); blockDim = dim3(g[3], g[4], g[5]);
  const int n = g[3] * g[4] * g[5];
  const size_t stack = 1 << 20;  // pages that are not touched cost nothing
  char *stacks = meet ? (char *)mmap(nullptr, n * stack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : nullptr;
#ifdef MADV_NOHUGEPAGE
  if (meet) madvise(stacks, n * stack, MADV_NOHUGEPAGE);
#endif
  if (stacks == MAP_FAILED) { std::fprintf(stderr, "no memory for the stacks of %d threads\n", n); std::exit(3); }
  auto at = [&](int t, unsigned x, unsigned y, unsigned z) {
    threadIdx = {(unsigned)(t % g[3]), (unsigned)(t / g[3] % g[4]), (unsigned)(t / g[3] / g[4])}; blockIdx = {x, y, z}; };
  for (int z = 0; z < g[2]; z++) for (int y = 0; y < g[1]; y++) for (int x = 0; x < g[0]; x++) {
    if (!meet) { for (int t = 0; t < n; t++) { at(t, x, y, z); f(); } continue; }
    Barrier_ all{n}; block_bar_ = &all; Turn_<F>::body = &f;
    std::vector<Barrier_> warps; std::vector<Thread_> threads(n);
    for (int w = 0; w * 32 < n; w++) warps.push_back({std::min(32, n - w * 32)});
    for (size_t w = 0; w < warps.size(); w++) warp_bar_[w] = &warps[w];
    for (int t = 0; t < n; t++) {
      Thread_ &own = threads[t]; getcontext(&own.at); own.done = false;
      own.at.uc_stack.ss_sp = stacks + t * stack; own.at.uc_stack.ss_size = stack; own.at.uc_link = &turns_;
      makecontext(&own.at, Turn_<F>::run, 0); }
    for (int left = n; left;) {
      went_on_ = false; left = 0;
      for (int t = 0; t < n; t++) if (!threads[t].done) {
        at(t, x, y, z); lane_ = t % 32; warp_ = t / 32; now_ = &threads[t]; swapcontext(&turns_, &now_->at); left += !now_->done; }
      if (left && !went_on_) { std::fprintf(stderr, "%d threads wait for others for ever\n", left); std::exit(3); }
    }
    now_ = nullptr;
  }
  if (stacks) munmap(stacks, n * stack);
}
template <int I, class R_, class... A_> auto argument_(R_ (*)(A_...)) -> std::tuple_element_t<I, std::tuple<A_...>>;
// the wrapper's own: members of structs and results, by pointers to their bytes
template <class M> static void put_(M &m, const char *from, int i, size_t size) {
  if constexpr (std::is_pointer_v<M>) m = (M)from; else std::memcpy((void *)&m, from + i * size, std::min(size, sizeof(M))); }
template <class M> static void take_(const M &m, char *to, int i, size_t size) {
  if constexpr (!std::is_pointer_v<M>) std::memcpy(to + i * size, (const void *)&m, std::min(size, sizeof(M))); }
template <class F> static void returned_(F f, double *to) {
  if constexpr (std::is_void_v<decltype(f())>) f(); else *to = (double)f(); }
