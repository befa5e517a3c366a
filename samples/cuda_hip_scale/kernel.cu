#include "hip/hip_runtime.h"

// HIP's spelling of the thread's index
__global__ void hip_scale(float *data, const float *gain, int n, int channels) {
    int i = hipBlockIdx_x * hipBlockDim_x + hipThreadIdx_x;
    if (i < n) data[i] *= gain[i % channels];
}
