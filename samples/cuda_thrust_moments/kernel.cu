// Mean, variance and extent of standardised data: functors, a lambda and reductions of Thrust around a kernel
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/transform_reduce.h>

struct squared_distance {
    float centre;
    squared_distance(float c) : centre(c) {}
    __host__ __device__ float operator()(const float &x) const { return (x - centre) * (x - centre); }
};

__global__ void standardise(float *x, float mean, float deviation, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = (x[i] - mean) / deviation;
}

float moments(const float *samples, float *ranked, int n, float floor) {
    thrust::device_vector<float> x(samples, samples + n);
    float mean = thrust::reduce(x.begin(), x.end(), 0.0f, thrust::plus<float>()) / n;
    float variance = thrust::transform_reduce(x.begin(), x.end(), squared_distance(mean), 0.0f, thrust::plus<float>()) / n;
    standardise<<<(n + 255) / 256, 256>>>(thrust::raw_pointer_cast(x.data()), mean, sqrtf(variance), n);
    thrust::transform(x.begin(), x.end(), x.begin(), [=] __device__ (float v) { return v < floor ? floor : v; });
    thrust::sort(x.begin(), x.end());
    thrust::inclusive_scan(x.begin(), x.end(), x.begin());
    thrust::copy(x.begin(), x.end(), ranked);
    return *thrust::max_element(x.begin(), x.end()) - *thrust::min_element(x.begin(), x.end());
}
