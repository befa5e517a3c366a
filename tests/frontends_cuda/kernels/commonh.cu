typedef struct {
    int w, h;
} Dim;
__device__ __host__ static inline int clampi(int v, int lo, int hi) {
    return max(lo, min(v, hi));
}
__device__ float bil(const float*im, float x, float y, int w, int h) {
    int x0 = clampi((int)floorf(x), 0, w-1), y0 = clampi((int)floorf(y), 0, h-1);
    int x1 = clampi(x0+1, 0, w-1), y1 = clampi(y0+1, 0, h-1);
    float fx = x-x0, fy = y-y0;
    float a = im[y0*w+x0]*(1-fx)+im[y0*w+x1]*fx, b = im[y1*w+x0]*(1-fx)+im[y1*w+x1]*fx;
    return a*(1-fy)+b*fy;
}
__global__ void commonh(const float*im, float*o, int w, int h, float s) {
    int x = blockIdx.x*blockDim.x+threadIdx.x;
    int y = blockIdx.y*blockDim.y+threadIdx.y;
    if (x<w && y<h) o[y*w+x] = bil(im, x*s, y*s, w, h);
}
