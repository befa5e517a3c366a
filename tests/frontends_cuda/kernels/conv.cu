__constant__ float K[3][3] = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}};
__global__ void conv(const float*im, float*out, int w, int h) {
    int x = blockIdx.x*blockDim.x+threadIdx.x, y = blockIdx.y*blockDim.y+threadIdx.y;
    if (x >= w || y >= h) return;
    float acc = 0;
    for (int dy = -1; dy <= 1; dy++) for (int dx = -1; dx <= 1; dx++) {
        int xx = min(max(x+dx, 0), w-1), yy = min(max(y+dy, 0), h-1);
        acc += K[dy+1][dx+1]*im[yy*w+xx];
    }
    out[y*w+x] = acc/16;
}
