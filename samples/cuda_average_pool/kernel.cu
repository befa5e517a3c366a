// Means of 2 x 2 windows; an odd last row or column is left out.
__global__ void halve(const float *image, float *half, int planes, int rows, int cols) {
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int half_rows = rows / 2, half_cols = cols / 2;
    if (id >= planes * half_rows * half_cols) return;
    int c = id % half_cols;
    int r = (id / half_cols) % half_rows;
    int plane = id / (half_rows * half_cols);
    const float *corner = image + (plane * rows + 2 * r) * cols + 2 * c;
    half[id] = 0.25f * (corner[0] + corner[1] + corner[cols] + corner[cols + 1]);
}
