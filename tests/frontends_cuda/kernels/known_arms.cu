// A choice that is known when the file is read still has the type of both arms.
template <int N> __device__ double pick(int a) { return N > 1 ? a : 2.5f; }

__global__ void known_arms(int *q, double *d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    q[i] += true ? -1 : 1u;
    d[i] += true ? -1 : 1u;
    d[i] -= sizeof(int) == 4 ? q[i] : 0u;
    d[i] += (1 ? 1 : 2.0) / 3 + (0 ? 2.0f : 1) / 3;
    d[i] += pick<2>(q[i] * 16777217) / 3;
    q[i] = (true ? q[i] : 0.0f) / 4 * 4;
}
