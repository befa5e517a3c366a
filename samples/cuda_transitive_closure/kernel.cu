// Which nodes can be reached from which, and how wide the widest way is: in place, a launch for each node on the way.

__global__ void reach(unsigned *r, int n, int k)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || j >= n) return;
    r[i * n + j] |= r[i * n + k] & r[k * n + j];
}

__global__ void widen(float *w, int n, int k)
{
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) w[i * n + j] = fmaxf(w[i * n + j], fminf(w[i * n + k], w[k * n + j]));
}

void closure(unsigned *r, float *w, int n)
{
    dim3 block(16, 16), grid((n + 15) / 16, (n + 15) / 16);
    for (int k = 0; k < n; k++) {
        reach<<<grid, block>>>(r, n, k);
        widen<<<grid, block>>>(w, n, k);
    }
}
