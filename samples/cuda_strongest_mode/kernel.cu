#include <cublas_v2.h>
#include <math.h>
#include <thrust/device_ptr.h>
#include <thrust/fill.h>
#include <thrust/inner_product.h>
#include <thrust/transform.h>
#include <vector>

struct soft_clip {
    float limit;
    soft_clip(float limit) : limit(limit) {}
    __host__ __device__ float operator()(float v) const { return v / (1.0f + fabsf(v) / limit); }
};

// adds the damping that each site has of its own
__global__ void damp(const float *v, const float *d, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += d[i] * v[i];
}

// the strongest mode of a symmetric matrix with damping, and its strength after each round
void strongest_mode(const float *a, const float *d, float *v, float *history, int n, int rounds) {
    cublasHandle_t handle;
    cublasCreate(&handle);
    const float one = 1.0f, zero = 0.0f;
    float *next;
    cudaMalloc(&next, n * sizeof(float));
    thrust::device_ptr<float> first(v), moved(next);
    thrust::fill(first, first + n, 1.0f);
    std::vector<float> strengths;
    for (int k = 0; k < rounds; k++) {
        cublasSgemv(handle, CUBLAS_OP_N, n, n, &one, a, n, v, 1, &zero, next, 1);
        damp<<<(n + 127) / 128, 128>>>(v, d, next, n);
        float length;
        cublasSnrm2(handle, n, next, 1, &length);
        const float scale = 1.0f / length;
        cublasSscal(handle, n, &scale, next, 1);
        thrust::transform(moved, moved + n, first, soft_clip(8.0f));
        strengths.push_back(length);
    }
    cudaMemcpy(history, strengths.data(), rounds * sizeof(float), cudaMemcpyHostToDevice);
    cudaFree(next);
    cublasDestroy(handle);
}
