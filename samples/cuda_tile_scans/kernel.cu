// Running values within tiles of a warp, and a product that threads multiply together.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void tile_offsets(const int *length, int *offset, int n) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int before = cg::exclusive_scan(tile, i < n ? length[i] : 0, cg::plus<int>());
  if (i < n) offset[i] = before;
}

__global__ void highest_so_far(const float *level, float *crest, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, rank = threadIdx.x & 7;
  float v = i < n ? level[i] : -INFINITY;
  for (int d = 1; d < 8; d <<= 1) {
    float other = __shfl_up_sync(0xffffffffu, v, d, 8);
    if (rank >= d) v = fmaxf(v, other);
  }
  if (i < n) crest[i] = v;
}

__global__ void likelihood(const float *p, float *total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int *bits = (int *)total;
  int old = bits[0], seen;
  do {
    seen = old;
    old = atomicCAS(bits, seen, __float_as_int(__int_as_float(seen) * p[i]));
  } while (old != seen);
}
