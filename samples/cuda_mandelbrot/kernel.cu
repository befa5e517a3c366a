#define MAX_ITER 40

__device__ int escape(float cr, float ci) {
    float zr = 0.0f, zi = 0.0f;
    int it;
    for (it = 0; it < MAX_ITER; ++it) {
        float zr2 = zr * zr, zi2 = zi * zi;
        if (zr2 + zi2 > 4.0f) break;
        zi = 2.0f * zr * zi + ci;
        zr = zr2 - zi2 + cr;
    }
    return it;
}

__global__ void mandelbrot(int *counts, int width, int height, float x0, float y0, float scale) {
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < width && py < height) counts[py * width + px] = escape(x0 + px * scale, y0 + py * scale);
}
