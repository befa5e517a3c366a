// Rows that a block reduces through helpers whose idle lanes hold a finite number, and what one thread makes of a sum.
#include <float.h>

#define FULL 0xffffffffu

__inline__ __device__ float warp_max(float v) {
  for (int o = warpSize / 2; o > 0; o /= 2) v = fmaxf(v, __shfl_down_sync(FULL, v, o));
  return v;
}

__inline__ __device__ float warp_sum(float v) {
#pragma unroll
  for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(FULL, v, m);
  return v;
}

__device__ float block_max(float v) {
  static __shared__ float partial[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_max(v);
  if (!lane) partial[warp] = v;
  __syncthreads();
  v = (threadIdx.x < blockDim.x / warpSize) ? partial[lane] : -FLT_MAX;
  if (!warp) v = warp_max(v);
  return v;
}

// The largest magnitude of each row.
__global__ void absmax(const float *x, float *out, int cols) {
  const float *row = x + blockIdx.x * cols;
  float m = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, fabsf(row[c]));
  m = block_max(m);
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}

// The largest of each block, or the smallest number that the idle lanes bring in.
__global__ void largest(const float *x, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float m = block_max(i < n ? x[i] : -1.0f);
  if (threadIdx.x == 0) out[blockIdx.x] = m;
}

// One vector over its root mean square: thread 0 leaves the factor for all.
__global__ void rms_norm(float *o, const float *x, const float *w, int size) {
  __shared__ float partial[32];
  __shared__ float factor;
  float ss = 0.0f;
  for (int i = threadIdx.x; i < size; i += blockDim.x) ss += x[i] * x[i];
  ss = warp_sum(ss);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) partial[warp] = ss;
  __syncthreads();
  if (warp == 0) {
    ss = lane < blockDim.x / 32 ? partial[lane] : 0.0f;
    ss = warp_sum(ss);
    if (lane == 0) factor = rsqrtf(ss / size + 1e-5f);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < size; i += blockDim.x) o[i] = w[i] * (factor * x[i]);
}

// Bytes counted in shared memory; the number of bytes is longer than the counter.
__global__ void byte_counts(const unsigned char *data, long n, unsigned int *counts) {
  __shared__ unsigned int own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int stride = blockDim.x * gridDim.x;
  while (i < n) {
    atomicAdd(&own[data[i]], 1);
    i += stride;
  }
  __syncthreads();
  atomicAdd(&(counts[threadIdx.x]), own[threadIdx.x]);
}

// All pairs, tile by tile, with zeros behind the last body.
__global__ void pulls(const float4 *p, float3 *acc, int n) {
  __shared__ float4 tile[64];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
  float3 a = {0.f, 0.f, 0.f};
  for (int t = 0; t < (n + 63) / 64; t++) {
    int j = t * 64 + threadIdx.x;
    tile[threadIdx.x] = j < n ? p[j] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int k = 0; k < 64; k++) {
      float3 r = make_float3(tile[k].x - me.x, tile[k].y - me.y, tile[k].z - me.z);
      float inv = rsqrtf(r.x * r.x + r.y * r.y + r.z * r.z + 1e-2f);
      float s = tile[k].w * inv * inv * inv;
      a.x += r.x * s;
      a.y += r.y * s;
      a.z += r.z * s;
    }
    __syncthreads();
  }
  if (i < n) acc[i] = a;
}
