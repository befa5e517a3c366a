// A dense layer and its loss: cuBLAS multiplies column-major matrices, CUB adds the squares
#include <cub/cub.cuh>
#include <cublas_v2.h>

__global__ void bias_relu(float *h, const float *bias, int rows, int columns) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < columns) h[i + j * rows] = fmaxf(h[i + j * rows] + bias[i], 0.0f);
}

__global__ void squares(const float *h, const float *target, float *error, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) error[i] = (h[i] - target[i]) * (h[i] - target[i]);
}

// h = relu(W x + b) for `batch` columns of x, and the mean of (h - target)^2
float layer(cublasHandle_t handle, const float *W, const float *x, const float *b, const float *target, float *h,
            int outputs, int inputs, int batch) {
    const float alpha = 1.0f, beta = 0.0f;
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, outputs, batch, inputs, &alpha, W, inputs, x, inputs, &beta, h,
                outputs);
    dim3 block(16, 16), grid((outputs + 15) / 16, (batch + 15) / 16);
    bias_relu<<<grid, block>>>(h, b, outputs, batch);

    int n = outputs * batch;
    float *error, *sum;
    cudaMalloc(&error, n * sizeof(float));
    cudaMalloc(&sum, sizeof(float));
    squares<<<(n + 255) / 256, 256>>>(h, target, error, n);
    void *storage = nullptr;
    size_t bytes = 0;
    cub::DeviceReduce::Sum(storage, bytes, error, sum, n);
    cudaMalloc(&storage, bytes);
    cub::DeviceReduce::Sum(storage, bytes, error, sum, n);
    float loss;
    cudaMemcpy(&loss, sum, sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(storage);
    cudaFree(error);
    cudaFree(sum);
    return loss / n;
}
