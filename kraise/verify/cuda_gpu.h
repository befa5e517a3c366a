// What the wrapper of an original needs where nvcc compiles it for a GPU: device memory for the arguments.
#pragma once
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <type_traits>
static void check_(cudaError_t e) {
  if (e != cudaSuccess) { std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(e)); std::exit(3); } }
static void *device_(const void *from, size_t bytes) {
  void *p = nullptr; check_(cudaMalloc(&p, bytes ? bytes : 1)); if (bytes) check_(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice)); return p; }
static void host_(void *to, const void *from, size_t bytes) { if (bytes) check_(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)); }
template <class T> static char *symbol_(T &s) { void *p = nullptr; check_(cudaGetSymbolAddress(&p, s)); return (char *)p; }
template <int I, class R_, class... A_> auto argument_(R_ (*)(A_...)) -> std::tuple_element_t<I, std::tuple<A_...>>;
template <class M> static void put_(M &m, const char *from, int i, size_t size) {
  if constexpr (std::is_pointer_v<M>) m = (M)from; else std::memcpy((void *)&m, from + i * size, std::min(size, sizeof(M))); }
template <class M> static void take_(const M &m, char *to, int i, size_t size) {
  if constexpr (!std::is_pointer_v<M>) std::memcpy(to + i * size, (const void *)&m, std::min(size, sizeof(M))); }
