// Relaxation of a rod by a cooperative launch: all blocks meet between the two half steps of a round.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void relax_rod(float *now, float *next, int cells, int rounds) {
  cg::grid_group everyone = cg::this_grid();
  int c = everyone.thread_rank();
  for (int r = 0; r < rounds; ++r) {
    if (c > 0 && c < cells - 1) next[c] = now[c] + 0.25f * (now[c - 1] - 2.0f * now[c] + now[c + 1]);
    everyone.sync();
    if (c > 0 && c < cells - 1) now[c] = next[c];
    everyone.sync();
  }
}

__global__ void smooth_then_differ(const float *x, float *smooth, float *rough, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) smooth[i] = (x[i - 1] + x[i] + x[i + 1]) / 3.0f;
  cg::this_grid().sync();
  if (i > 1 && i < n - 2) rough[i] = smooth[i + 1] - smooth[i - 1];
}
