// One flat thread index, taken apart by division: layers of a convolutional network.
#define CUDA_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

__global__ void nchw_to_nhwc(int batch, int channels, int height, int width, const float *in, float *out) {
    CUDA_KERNEL_LOOP(idx, batch * channels * height * width) {
        int w = idx % width;
        int rest = idx / width;
        int h = rest % height;
        rest /= height;
        int c = rest % channels;
        int b = rest / channels;
        out[((b * height + h) * width + w) * channels + c] = in[idx];
    }
}

// the number of elements is a parameter of its own: it need not be a whole number of images
__global__ void normalise(int n, float *x, const float *mean, const float *variance, int channels, int spatial) {
    int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= n) return;
    int c = (index / spatial) % channels;
    x[index] = (x[index] - mean[c]) / sqrtf(variance[c] + 1e-5f);
}

// taken apart and put together again
__global__ void reorganise(int n, const float *x, int w, int h, int c, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int iw = i % w;
    int ih = (i / w) % h;
    int ic = (i / (w * h)) % c;
    int b = i / (w * h * c);
    out[iw + w * (ih + h * (ic + c * b))] = x[ic + c * (iw + w * (ih + h * b))];
}
