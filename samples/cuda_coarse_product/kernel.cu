// A tiled product in which each thread makes three elements of its row, a tile apart.
#define T 4
#define EACH 3
__global__ void coarse_product(const float *left, const float *right, float *product, int size) {
  __shared__ float l[T][T];
  __shared__ float r[T][T];
  int tx = threadIdx.x, ty = threadIdx.y;
  int row = blockIdx.y * T + ty;
  int first = blockIdx.x * T * EACH + tx;
  float sum[EACH];
  for (int e = 0; e < EACH; ++e) sum[e] = 0.0f;
  for (int tile = 0; tile < size / T; ++tile) {
    l[ty][tx] = left[row * size + tile * T + tx];
    for (int e = 0; e < EACH; ++e) {
      r[ty][tx] = right[(tile * T + ty) * size + first + e * T];
      __syncthreads();
      for (int k = 0; k < T; ++k) sum[e] += l[ty][k] * r[k][tx];
      __syncthreads();
    }
  }
  for (int e = 0; e < EACH; ++e) product[row * size + first + e * T] = sum[e];
}
