// Rows of an image under a filter, from a strip of each row in shared memory with its halo.
#define RADIUS 3
#define STRIP 32
__constant__ float taps[2 * RADIUS + 1];

__global__ void filter_rows(const float *image, float *out, int width, int height) {
  __shared__ float strip[STRIP + 2 * RADIUS];
  int first = blockIdx.x * STRIP, y = blockIdx.y;
  for (int k = threadIdx.x; k < STRIP + 2 * RADIUS; k += blockDim.x) {
    int at = first + k - RADIUS;
    strip[k] = at >= 0 && at < width ? image[y * width + at] : 0.0f;
  }
  __syncthreads();
  int x = first + threadIdx.x;
  if (x < width && y < height) {
    float sum = 0.0f;
#pragma unroll
    for (int j = -RADIUS; j <= RADIUS; ++j) sum += strip[threadIdx.x + RADIUS + j] * taps[RADIUS - j];
    out[y * width + x] = sum;
  }
}
