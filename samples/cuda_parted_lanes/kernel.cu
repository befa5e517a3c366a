// One step of a radix sort within a warp: the keys without the bit first, then those with it, each in order.
__global__ void part(const int *keys, const float *x, int *keys_out, float *out, int bit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31;
  int key = keys[i];
  bool set = (key >> bit) & 1;
  unsigned ballot = __ballot_sync(0xffffffff, set);
  int before = __popc(ballot & ((1u << lane) - 1));
  int place = i - lane + (set ? 32 - __popc(ballot) + before : lane - before);
  keys_out[place] = key;
  out[place] = x[i];
}
