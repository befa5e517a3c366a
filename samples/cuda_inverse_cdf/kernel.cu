// the index of the first entry that is not less than the key
__device__ int lower_bound(const float *a, int n, float key) {
    int lo = 0, hi = n - 1;
    while (lo <= hi) {
        int mid = lo + ((hi - lo) >> 1);
        if (a[mid] < key)
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    return lo;
}

// which of n outcomes each uniform number draws
__global__ void draw(const float *cdf, const float *u, int *outcome, int n, int draws) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < draws) outcome[i] = lower_bound(cdf, n, u[i]);
}
