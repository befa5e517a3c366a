// cooperative groups: tiles of 32 lanes, a block as a group
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

__global__ void sum_of_tiles(const float *x, float *out, int n) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<32>(block);
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
  if (tile.thread_rank() == 0) atomicAdd(out, v);
}

__global__ void largest_of_tile(const float *x, float *y) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] / cg::reduce(tile, x[i], cg::greater<float>());
}

__global__ void sum_of_block(const float *x, float *total, int n) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ float s[256];
  int t = block.thread_rank();
  int i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? x[i] : 0.0f;
  cg::sync(block);
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) s[t] += s[t + d];
    block.sync();
  }
  if (t == 0) total[blockIdx.x] = s[0];
}
