// Pointers that change places in the loop: a wave on three buffers, pressure on two, and a sort by odd and even pairs.
#include <utility>

__global__ void string_wave(float *u0, float *u1, float *u2, int n, int steps) {
  int i = threadIdx.x;
  float *before = u0, *now = u1, *after = u2;
  for (int t = 0; t < steps; t++) {
    if (i > 0 && i < n - 1) after[i] = 2.0f * now[i] - before[i] + 0.1f * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
    __syncthreads();
    float *oldest = before;
    before = now;
    now = after;
    after = oldest;
  }
}

// the ends of the row are left as they are
__global__ void relax_pressure(float *p, float *q, float *last, const float *rhs, int n, int rounds) {
  int i = threadIdx.x;
  for (int r = 0; r < rounds; r++) {
    if (i > 0 && i < n - 1) q[i] = 0.5f * (p[i - 1] + p[i + 1] - rhs[i]);
    __syncthreads();
    std::swap(p, q);
  }
  if (i < n) last[i] = p[i];
}

__global__ void sort_pairs(const float *x, float *y) {
  __shared__ float s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  s[t + 32] = x[t + 32];
  __syncthreads();
  for (int p = 0; p < 64; p++) {
    int i = 2 * t + (p & 1);
    if (i + 1 < 64 && s[i] > s[i + 1]) {
      float v = s[i];
      s[i] = s[i + 1];
      s[i + 1] = v;
    }
    __syncthreads();
  }
  y[t] = s[t];
  y[t + 32] = s[t + 32];
}
