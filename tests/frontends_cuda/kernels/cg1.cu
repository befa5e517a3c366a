#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void cg1(const float*x, float*y, int n) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = t<n?x[t]:0;
    __syncthreads();
    if (t<16) s[t] += s[t+16];
    __syncwarp();
    float v = s[t];
    v += __shfl_xor_sync(0xffffffffu, v, 8);
    v += __shfl_up_sync(~0u, v, 1);
    unsigned m = __ballot_sync(0xffffffff, v>0);
    y[t] = v+__popc(m&((1u<<t)-1));
}
