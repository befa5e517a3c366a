// One step of a Walsh-Hadamard transform in place: the pairs that differ in one bit of the index.
__global__ void walsh_step(float *x, unsigned int bit) {
  unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int pair = i ^ bit;
  if ((i & bit) == 0) {
    float a = x[i], b = x[pair];
    x[i] = a + b;
    x[pair] = a - b;
  }
}
