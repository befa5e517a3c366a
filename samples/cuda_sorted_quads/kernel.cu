// Four neighbours in order, by a bitonic network in registers.
__global__ void sorted_quads(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v[4];
  for (int k = 0; k < 4; k++) v[k] = x[4 * i + k];
  for (int size = 2; size <= 4; size <<= 1)
    for (int stride = size >> 1; stride > 0; stride >>= 1)
      for (int k = 0; k < 4; k++) {
        int other = k ^ stride;
        if (other > k) {
          bool up = (k & size) == 0;
          if ((v[k] > v[other]) == up) { float t = v[k]; v[k] = v[other]; v[other] = t; }
        }
      }
  for (int k = 0; k < 4; k++) x[4 * i + k] = v[k];
}
