// the largest and the smallest value of each bucket, and how many are above a bound; 1-based starts as in Fortran
__global__ void bucket_max(const int *starts, const float *value, float *high, float *low, int *above, int buckets,
                           float bound) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b < buckets) {
        float most = -1e30f, least = 1e30f;
        int count = 0;
        for (int k = starts[b] - 1; k <= starts[b + 1] - 2; k++) {
            most = fmaxf(most, value[k]);
            least = value[k] < least ? value[k] : least;
            if (value[k] > bound) count++;
        }
        high[b] = most;
        low[b] = least;
        above[b] = count;
    }
}
