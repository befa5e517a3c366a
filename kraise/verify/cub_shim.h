// CUB's collectives for a C++ compiler: each thread leaves its value in a cell, and waits for the others.
#pragma once
#include "cuda_shim.h"
namespace cub {
enum { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS,
       BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS,
       BLOCK_LOAD_DIRECT, BLOCK_LOAD_VECTORIZE, BLOCK_LOAD_TRANSPOSE, BLOCK_LOAD_WARP_TRANSPOSE,
       BLOCK_STORE_DIRECT, BLOCK_STORE_VECTORIZE, BLOCK_STORE_TRANSPOSE, BLOCK_STORE_WARP_TRANSPOSE };
struct Sum { template <class T> T operator()(T a, T b) const { return a + b; } };
struct Max { template <class T> T operator()(T a, T b) const { return b > a ? b : a; } };
struct Min { template <class T> T operator()(T a, T b) const { return b < a ? b : a; } };
alignas(16) static unsigned char cells_[1024 * 16];
template <class T> static T &cell_(int i) { static_assert(sizeof(T) <= 16); return ((T *)cells_)[i]; }
static inline int rank_() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
template <class T, class F> static T all_(const T *v, int n, F f) { T r = v[0]; for (int i = 1; i < n; i++) r = f(r, v[i]); return r; }
struct Storage { struct TempStorage {}; Storage(TempStorage &) {} };
template <class T, int X, int A = 0, int Y = 1, int Z = 1> struct BlockReduce : Storage {
  using Storage::Storage;
  template <class F> T Reduce(T v, F f, int n = X * Y * Z) {
    cell_<T>(rank_()) = v; __syncthreads(); T r = all_(&cell_<T>(0), n, f); __syncthreads(); return r; }
  template <int N, class F> T Reduce(T (&v)[N], F f) { return Reduce(all_(v, N, f), f); }
  T Sum(T v, int n = X * Y * Z) { return Reduce(v, cub::Sum(), n); }
  template <int N> T Sum(T (&v)[N]) { return Reduce(v, cub::Sum()); }
};
template <class T, int X, int A = 0, int Y = 1, int Z = 1> struct BlockScan : Storage {
  using Storage::Storage;
  // the running value before this thread's items, of which there are N, and after all
  template <class F> bool before_(T own, F f, T *before, T *total) {
    cell_<T>(rank_()) = own; __syncthreads(); int r = rank_();
    if (r) *before = all_(&cell_<T>(0), r, f);
    *total = all_(&cell_<T>(0), X * Y * Z, f); __syncthreads(); return r > 0; }
  template <class F> void run_(const T *in, T *out, int n, F f, const T *first, bool inclusive, T &total) {
    T own[64], b = T(); std::copy(in, in + n, own); bool some = before_(all_(own, n, f), f, &b, &total);
    if (first) { b = some ? f(*first, b) : *first; some = true; }
    for (int i = 0; i < n; i++) { T after = some ? f(b, own[i]) : own[i]; out[i] = inclusive ? after : b; b = after; some = true; } }
  template <class F> void InclusiveScan(T in, T &out, F f) { T t; run_(&in, &out, 1, f, nullptr, true, t); }
  template <class F> void InclusiveScan(T in, T &out, F f, T &t) { run_(&in, &out, 1, f, nullptr, true, t); }
  template <class F> void ExclusiveScan(T in, T &out, T first, F f) { T t; run_(&in, &out, 1, f, &first, false, t); }
  template <class F> void ExclusiveScan(T in, T &out, T first, F f, T &t) { run_(&in, &out, 1, f, &first, false, t); }
  void InclusiveSum(T in, T &out) { InclusiveScan(in, out, cub::Sum()); }
  void InclusiveSum(T in, T &out, T &t) { InclusiveScan(in, out, cub::Sum(), t); }
  void ExclusiveSum(T in, T &out) { ExclusiveScan(in, out, T(0), cub::Sum()); }
  void ExclusiveSum(T in, T &out, T &t) { ExclusiveScan(in, out, T(0), cub::Sum(), t); }
  template <int N, class F> void InclusiveScan(T (&in)[N], T (&out)[N], F f) { T t; run_(in, out, N, f, nullptr, true, t); }
  template <int N, class F> void InclusiveScan(T (&in)[N], T (&out)[N], F f, T &t) { run_(in, out, N, f, nullptr, true, t); }
  template <int N, class F> void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F f) { T t; run_(in, out, N, f, &first, false, t); }
  template <int N, class F> void ExclusiveScan(T (&in)[N], T (&out)[N], T first, F f, T &t) { run_(in, out, N, f, &first, false, t); }
  template <int N> void InclusiveSum(T (&in)[N], T (&out)[N]) { InclusiveScan(in, out, cub::Sum()); }
  template <int N> void InclusiveSum(T (&in)[N], T (&out)[N], T &t) { InclusiveScan(in, out, cub::Sum(), t); }
  template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N]) { ExclusiveScan(in, out, T(0), cub::Sum()); }
  template <int N> void ExclusiveSum(T (&in)[N], T (&out)[N], T &t) { ExclusiveScan(in, out, T(0), cub::Sum(), t); }
};
template <class T, int W = 32> struct WarpReduce : Storage {
  using Storage::Storage;
  template <class F> T Reduce(T v, F f) { T all[W]; for (int i = 0; i < W; i++) all[i] = __shfl_sync(~0u, v, i, W); return all_(all, W, f); }
  T Sum(T v) { return Reduce(v, cub::Sum()); }
};
template <class T, int W = 32> struct WarpScan : Storage {
  using Storage::Storage;
  template <class F> void InclusiveScan(T in, T &out, F f) {
    T all[W]; for (int i = 0; i < W; i++) all[i] = __shfl_sync(~0u, in, i, W); out = all_(all, lane_ % W + 1, f); }
  void InclusiveSum(T in, T &out) { InclusiveScan(in, out, cub::Sum()); }
  void ExclusiveSum(T in, T &out) { T own = in; InclusiveScan(own, out, cub::Sum()); out -= own; }
};
template <class T, int X, int N, int A = 0, int Y = 1, int Z = 1> struct BlockLoad : Storage {
  using Storage::Storage;
  template <class P> void Load(P from, T (&v)[N], int n = 1 << 30) { for (int i = 0; i < N; i++) if (rank_() * N + i < n) v[i] = from[rank_() * N + i]; }
  template <class P, class D> void Load(P from, T (&v)[N], int n, D other) { for (int i = 0; i < N; i++) v[i] = other; Load(from, v, n); }
};
template <class T, int X, int N, int A = 0, int Y = 1, int Z = 1> struct BlockStore : Storage {
  using Storage::Storage;
  template <class P> void Store(P to, T (&v)[N], int n = 1 << 30) { for (int i = 0; i < N; i++) if (rank_() * N + i < n) to[rank_() * N + i] = v[i]; }
};
}  // namespace cub
namespace hipcub = cub;
