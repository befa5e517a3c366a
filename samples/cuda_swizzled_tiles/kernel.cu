// A transposition without conflicts of banks and without padding: the columns of a tile are exchanged by row.
#define SIDE 8
__global__ void swizzled(float *out, const float *in, int w, int h) {
  __shared__ float tile[SIDE][SIDE];
  int x = blockIdx.x * SIDE + threadIdx.x;
  int y = blockIdx.y * SIDE + threadIdx.y;
  if (x < w && y < h) tile[threadIdx.y][threadIdx.x ^ threadIdx.y] = in[y * w + x];
  __syncthreads();
  x = blockIdx.y * SIDE + threadIdx.x;
  y = blockIdx.x * SIDE + threadIdx.y;
  if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y ^ threadIdx.x];
}

// Each thread sums the elements that are `stride` apart, from its own on.
__global__ void shares(float *out, const float *in, int n, int m, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m) return;
  float s = 0.f;
  for (int k = i; k < n; k += stride) s += in[k] * in[k];
  out[i] = s;
}
