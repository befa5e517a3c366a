// Matrices with a leading dimension, as BLAS has them: only the first m of ld columns belong to the kernel,
// and the array may end with the last of them.
#define TILE 16

__global__ void add_outer(int n, int m, int ld, float *a, const float *u, const float *v, float alpha) {
    int row = blockIdx.y * TILE + threadIdx.y;
    int col = blockIdx.x * TILE + threadIdx.x;
    if (row >= n || col >= m) return;
    a[row * ld + col] += alpha * u[row] * v[col];
}

// sums over planes of a volume whose rows and planes are padded
__global__ void project(int nz, int ny, int nx, int pitch, int slice, const float *volume, float *image) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < nx && y < ny) {
        float total = 0.0f;
        for (int z = 0; z < nz; z++) total += volume[(z * slice + y) * pitch + x];
        image[y * pitch + x] = total;
    }
}

// windowed energies: the frames of a signal, which overlap where hop < width
__global__ void frame_energy(int frames, int hop, int width, const float *signal, const float *window, float *energy) {
    int f = blockIdx.x * blockDim.x + threadIdx.x;
    if (f >= frames) return;
    float total = 0.0f;
    for (int k = 0; k < width; k++) {
        float s = signal[f * hop + k] * window[k];
        total += s * s;
    }
    energy[f] = total;
}
