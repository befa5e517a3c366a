// scans and reductions of tiles of several sizes
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;

__global__ void tile_scan(const int *in, int *running, int *before, int n) {
  auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  int a = cg::inclusive_scan(tile, v, cg::plus<int>());
  int b = cg::exclusive_scan(tile, v);
  if (i < n) {
    running[i] = a;
    before[i] = b;
  }
}

__global__ void best_of_eight(const float *x, float *best) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
  int i = block.group_index().x * block.size() + block.thread_rank();
  float v = cg::reduce(tile, x[i], cg::greater<float>());
  if (tile.thread_rank() == 0) best[i / 8] = v;
}
