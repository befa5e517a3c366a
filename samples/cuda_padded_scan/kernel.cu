#define HALF 16
#define SKIP(i) ((i) + ((i) >> 3))

// running sums before each element, block by block: up and down a tree whose cells leave a gap after every eight
__global__ void sums_before(const float *x, float *y) {
    __shared__ float cell[2 * HALF + 2 * HALF / 8];
    int t = threadIdx.x;
    int first = blockIdx.x * 2 * HALF;
    cell[SKIP(t)] = x[first + t];
    cell[SKIP(t + HALF)] = x[first + t + HALF];
    int reach = 1;
    for (int d = HALF; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int low = reach * (2 * t + 1) - 1;
            int high = reach * (2 * t + 2) - 1;
            cell[SKIP(high)] += cell[SKIP(low)];
        }
        reach *= 2;
    }
    if (t == 0) cell[SKIP(2 * HALF - 1)] = 0.0f;
    for (int d = 1; d < 2 * HALF; d *= 2) {
        reach >>= 1;
        __syncthreads();
        if (t < d) {
            int low = reach * (2 * t + 1) - 1;
            int high = reach * (2 * t + 2) - 1;
            low += low >> 3;
            high += high >> 3;
            float left = cell[low];
            cell[low] = cell[high];
            cell[high] += left;
        }
    }
    __syncthreads();
    y[first + t] = cell[SKIP(t)];
    y[first + t + HALF] = cell[SKIP(t + HALF)];
}
