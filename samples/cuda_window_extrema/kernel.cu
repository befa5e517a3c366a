// The range of a signal over windows that end at its borders, and where each window's largest element is.
__global__ void window_extrema(const float *signal, float *range, int *peak, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int first = i - 2 < 0 ? 0 : i - 2;
    int last = i + 2 > n - 1 ? n - 1 : i + 2;
    float low = signal[i], high = -1e30f;
    int at = i;
    for (int k = first; k <= last; ++k) {
        low = fminf(low, signal[k]);
        if (signal[k] > high) {
            high = signal[k];
            at = k;
        }
    }
    range[i] = high - low;
    peak[i] = at;
}
