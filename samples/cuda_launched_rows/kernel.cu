// Rows smoothed by a filter with zeros beyond their ends; a row for each block along y, which no parameter counts.
#define REACH 3
#define STRIP 16

__constant__ float taps[2 * REACH + 1];

__global__ void smooth_rows(float *out, const float *in, int width) {
  __shared__ float strip[STRIP + 2 * REACH];
  int x = blockIdx.x * STRIP + threadIdx.x;
  const float *row = in + blockIdx.y * width;
  strip[threadIdx.x + REACH] = x < width ? row[x] : 0.0f;
  if (threadIdx.x < REACH) {
    strip[threadIdx.x] = x >= REACH ? row[x - REACH] : 0.0f;
    strip[threadIdx.x + REACH + STRIP] = x + STRIP < width ? row[x + STRIP] : 0.0f;
  }
  __syncthreads();
  if (x < width) {
    float sum = 0.0f;
    for (int k = -REACH; k <= REACH; k++) sum += taps[k + REACH] * strip[threadIdx.x + REACH + k];
    out[blockIdx.y * width + x] = sum;
  }
}
