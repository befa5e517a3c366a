// loops in strides of the threads that store and accumulate at once

// one block a row: the exponentials are stored while they are summed
__global__ void softmax_rows(const float *x, float *y, int cols) {
  __shared__ float part[128];
  int r = blockIdx.x, t = threadIdx.x;
  float top = -INFINITY;
  for (int c = t; c < cols; c += blockDim.x) top = fmaxf(top, x[r * cols + c]);
  part[t] = top;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] = fmaxf(part[t], part[t + half]);
    __syncthreads();
  }
  top = part[0];
  __syncthreads();
  float total = 0;
  for (int c = t; c < cols; c += blockDim.x) {
    float e = expf(x[r * cols + c] - top);
    y[r * cols + c] = e;
    total += e;
  }
  part[t] = total;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  for (int c = t; c < cols; c += blockDim.x) y[r * cols + c] /= part[0];
}

// a step of conjugate gradients: what has just been stored is summed
__global__ void cg_step(float *x, float *r, const float *p, const float *q, float alpha, float *rr, int n) {
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    x[i] += alpha * p[i];
    r[i] -= alpha * q[i];
    s += r[i] * r[i];
  }
  atomicAdd(rr, s);
}

// the largest magnitude, found through the bits of floats that are not negative, while a copy is clipped
__global__ void clipped(const float *x, float *y, float *peak, float limit, int n) {
  float most = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] = fminf(fmaxf(x[i], -limit), limit);
    most = fmaxf(most, fabsf(x[i]));
  }
  atomicMax((int *)peak, __float_as_int(most));
}
