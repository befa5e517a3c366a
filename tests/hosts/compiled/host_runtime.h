#pragma once
#include "cuda_shim.h"
#include <utility>
#include <string>
#include <map>
#include <complex>
#include <functional>
#include <vector>
#include <algorithm>
#include <future>
#include <thread>
typedef int elsewhere_t; static int work_elsewhere(void *, int) { return 0; }
typedef int cudaError_t; typedef int cudaError; typedef void *cudaStream_t; typedef double *cudaEvent_t; 
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorInvalidValue = 1 };
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum { cudaMemAttachGlobal = 1, cudaEventDefault = 0, cudaHostAllocDefault=0, cudaStreamNonBlocking=1, cudaHostAllocMapped=2, cudaEventDisableTiming=2 };
struct cudaDeviceProp { char name[256]; int multiProcessorCount = 4, maxThreadsPerBlock = 1024, major = 8, minor = 0, warpSize = 32; size_t totalGlobalMem = 1<<30, sharedMemPerBlock = 49152; };
typedef std::vector<std::function<void()>> *cudaGraph_t, *cudaGraphExec_t;
enum { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
static cudaGraph_t captured_ = 0;
static int cudaStreamBeginCapture(cudaStream_t, int) { captured_ = new std::vector<std::function<void()>>(); return 0; }
static int cudaStreamEndCapture(cudaStream_t, cudaGraph_t *g) { *g = captured_; captured_ = 0; return 0; }
template <class... A> static int cudaGraphInstantiate(cudaGraphExec_t *e, cudaGraph_t g, A...) { *e = g; return 0; }
static int cudaGraphLaunch(cudaGraphExec_t e, cudaStream_t) { for (auto &run : *e) run(); return 0; }
static int cudaGraphExecDestroy(cudaGraphExec_t) { return 0; } static int cudaGraphDestroy(cudaGraph_t) { return 0; }
static void fill_(void *p, size_t n) { memset(p, 0x7b, n); }
template <class T> static int cudaMalloc(T **p, size_t n) { *(void **)p = calloc(n + 64, 1); return 0; }
template <class T> static int cudaMallocManaged(T **p, size_t n, unsigned = 1) { *(void **)p = calloc(n + 64, 1); return 0; }
template <class T> static int cudaMallocHost(T **p, size_t n, unsigned = 0) { *(void **)p = calloc(n + 64, 1); return 0; }
template <class T> static int cudaHostAlloc(T **p, size_t n, unsigned = 0) { *(void **)p = calloc(n + 64, 1); return 0; }
template <class T> static int cudaMallocAsync(T **p, size_t n, void * = 0) { *(void **)p = calloc(n + 64, 1); return 0; }
static int cudaMalloc(void **p, size_t n) { *p = calloc(n + 64, 1); return 0; }
template <class T> static int cudaMallocPitch(T **p, size_t *pitch, size_t w, size_t h) { *pitch = w; *(void **)p = calloc(w * h + 64, 1); return 0; }
static int cudaFree(void *) { return 0; } static int cudaFreeHost(void *) { return 0; } static int cudaFreeAsync(void *, void *) { return 0; }
static int cudaMemcpy(void *d, const void *s, size_t n, int) { memmove(d, s, n); return 0; }
static int cudaMemcpyAsync(void *d, const void *s, size_t n, int, void * = 0) { if (captured_) captured_->push_back([=] { memmove(d, s, n); }); else memmove(d, s, n); return 0; }
static int cudaMemset(void *d, int v, size_t n) { memset(d, v, n); return 0; }
static int cudaMemsetAsync(void *d, int v, size_t n, void * = 0) { if (captured_) captured_->push_back([=] { memset(d, v, n); }); else memset(d, v, n); return 0; }
static int cudaMemcpy2D(void *d, size_t dp, const void *s, size_t sp, size_t w, size_t h, int) { for (size_t i = 0; i < h; i++) memmove((char *)d + i * dp, (const char *)s + i * sp, w); return 0; }
static int cudaMemset2D(void *d, size_t dp, int v, size_t w, size_t h) { for (size_t i = 0; i < h; i++) memset((char *)d + i * dp, v, w); return 0; }
template <class T> static int cudaMemcpyToSymbol(T &sym, const void *s, size_t n, size_t off = 0, int = 0) { memcpy((char *)&sym + off, s, n); return 0; }
template <class T> static int cudaMemcpyFromSymbol(void *d, T &sym, size_t n, size_t off = 0, int = 0) { memcpy(d, (char *)&sym + off, n); return 0; }
template <class T> static int cudaGetSymbolAddress(void **p, T &sym) { *p = &sym; return 0; }
static int cudaDeviceSynchronize() { return 0; } static int cudaThreadSynchronize() { return 0; } static int cudaDeviceReset() { return 0; }
static int cudaGetLastError() { return 0; } static int cudaPeekAtLastError() { return 0; } static const char *cudaGetErrorString(int) { return ""; } static const char *cudaGetErrorName(int) { return ""; }
static int cudaSetDevice(int) { return 0; } static int cudaGetDevice(int *d) { *d = 0; return 0; } static int cudaGetDeviceCount(int *d) { *d = 1; return 0; }
static int cudaGetDeviceProperties(cudaDeviceProp *p, int) { *p = cudaDeviceProp(); return 0; }
static int cudaStreamCreate(cudaStream_t *s) { *s = 0; return 0; } static int cudaStreamCreateWithFlags(cudaStream_t *s, int) { *s = 0; return 0; } static int cudaStreamDestroy(cudaStream_t) { return 0; } static int cudaStreamSynchronize(cudaStream_t) { return 0; }
static int cudaEventCreate(cudaEvent_t *e) { *e = 0; return 0; } static int cudaEventCreateWithFlags(cudaEvent_t *e, int) { return 0; } static int cudaEventRecord(cudaEvent_t, cudaStream_t = 0) { return 0; } static int cudaEventSynchronize(cudaEvent_t) { return 0; } static int cudaEventDestroy(cudaEvent_t) { return 0; }
static int cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, int = 0) { return 0; }
static int cudaEventElapsedTime(float *ms, cudaEvent_t, cudaEvent_t) { *ms = 1; return 0; }
static int cudaMemPrefetchAsync(const void *, size_t, int, void * = 0) { return 0; }
#ifndef checkCudaErrors
#define checkCudaErrors(x) (void)(x)
#endif
struct Geom_ { dim3 g, b; Geom_(dim3 g, dim3 b, size_t = 0, void * = 0) : g(g), b(b) {} };
static void host_launch_(Geom_ c, const std::function<void()> &f) { if (captured_) { cudaGraph_t g = captured_; g->push_back([=] { host_launch_(c, f); }); return; } if (!c.g.x || !c.g.y || !c.g.z) return; const int g[6] = {(int)c.g.x, (int)c.g.y, (int)c.g.z, (int)c.b.x, (int)c.b.y, (int)c.b.z}; launch_(f, g, MEET_); }
#define hipLaunchKernelGGL(K, G, B, S, T, ...) host_launch_(Geom_(G, B), [&] { K(__VA_ARGS__); })
