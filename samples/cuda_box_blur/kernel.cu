#define RADIUS 2

// mean of the (2 RADIUS + 1)^2 window, cut off at the border of the image
__global__ void box_blur(const unsigned char *in, unsigned char *out, int width, int height) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col < width && row < height) {
        int total = 0;
        int pixels = 0;
        for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
            for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
                int y = row + dy;
                int x = col + dx;
                if (y >= 0 && y < height && x >= 0 && x < width) {
                    total += in[y * width + x];
                    ++pixels;
                }
            }
        }
        out[row * width + col] = (unsigned char)(total / pixels);
    }
}
