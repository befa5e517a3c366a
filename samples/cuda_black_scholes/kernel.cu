#include <cuda_runtime.h>

#define A1 0.31938153f
#define A2 -0.356563782f
#define A3 1.781477937f
#define A4 -1.821255978f
#define A5 1.330274429f
#define RSQRT2PI 0.39894228040143267793994605993438f

// cumulative normal distribution, by a polynomial
__device__ inline float normal_cdf(float d) {
    float K = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float cnd = RSQRT2PI * __expf(-0.5f * d * d) * (K * (A1 + K * (A2 + K * (A3 + K * (A4 + K * A5)))));
    if (d > 0) cnd = 1.0f - cnd;
    return cnd;
}

__global__ void black_scholes(float *__restrict call, float *__restrict put, const float *__restrict price,
                              const float *__restrict strike, const float *__restrict years, float riskfree,
                              float volatility, int count) {
    const int opt = blockDim.x * blockIdx.x + threadIdx.x;
    if (opt < count) {
        float sqrt_t = sqrtf(years[opt]);
        float d1 = (__logf(price[opt] / strike[opt]) + (riskfree + 0.5f * volatility * volatility) * years[opt])
                 / (volatility * sqrt_t);
        float d2 = d1 - volatility * sqrt_t;
        float cdf1 = normal_cdf(d1);
        float cdf2 = normal_cdf(d2);
        float discount = __expf(-riskfree * years[opt]);
        call[opt] = price[opt] * cdf1 - strike[opt] * discount * cdf2;
        put[opt] = strike[opt] * discount * (1.0f - cdf2) - price[opt] * (1.0f - cdf1);
    }
}
