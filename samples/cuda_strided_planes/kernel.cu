// Flat indices of planes taken apart under a grid-stride loop, as layers of networks are written.
#define FOR_EACH(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += gridDim.x * blockDim.x)

__global__ void add_bias(float *y, const float *bias, int count, int C, int area) {
  FOR_EACH(i, count) { y[i] += bias[(i / area) % C]; }
}

// Twice as wide and high, each pixel four times.
__global__ void enlarge(const float *in, float *out, int C, int H, int W) {
  FOR_EACH(i, C * (2 * H) * (2 * W)) {
    int x = i % (2 * W);
    int y = (i / (2 * W)) % (2 * H);
    int c = i / (4 * H * W);
    out[i] = in[(c * H + y / 2) * W + x / 2];
  }
}

__global__ void weigh(const float *x, const float *scale, const float *shift, float *y, int N, int C, int H, int W) {
  int step = gridDim.x * blockDim.x;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < N * C * H * W; idx += step) {
    int w = idx % W;
    int h = idx / W % H;
    int c = idx / W / H % C;
    float v = x[idx] * scale[c] + shift[c];
    y[idx] = h > 0 && w > 0 ? fmaxf(v, 0.0f) : 0.1f * v;
  }
}
