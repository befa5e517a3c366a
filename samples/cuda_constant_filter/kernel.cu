#define KERNEL_RADIUS 3
#define KERNEL_LENGTH (2 * KERNEL_RADIUS + 1)

__constant__ float c_Kernel[KERNEL_LENGTH];

// row filter with zeros outside of the image; the coefficients are in constant memory
__global__ void convolution_rows(float *dst, const float *src, int imageW, int imageH) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < imageW && y < imageH) {
        float sum = 0;
        for (int k = -KERNEL_RADIUS; k <= KERNEL_RADIUS; k++) {
            int d = x + k;
            if (d >= 0 && d < imageW) sum += src[y * imageW + d] * c_Kernel[KERNEL_RADIUS - k];
        }
        dst[y * imageW + x] = sum;
    }
}
