#define T 4
#define R 2
__global__ void transpose(float*o, const float*in, int w, int h) {
    __shared__ float t[T][T+1];
    int x = blockIdx.x*T+threadIdx.x, y = blockIdx.y*T+threadIdx.y;
    for (int j = 0; j<T; j += R) if (x<w && y+j<h) t[threadIdx.y+j][threadIdx.x] = in[(y+j)*w+x];
    __syncthreads();
    x = blockIdx.y*T+threadIdx.x;
    y = blockIdx.x*T+threadIdx.y;
    for (int j = 0; j<T; j += R) if (x<h && y+j<w) o[(y+j)*h+x] = t[threadIdx.x][threadIdx.y+j];
}
