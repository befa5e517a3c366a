// Mirrors an RGBA picture left to right, in place, and darkens it.
__global__ void mirror(uchar4 *picture, int columns, int lines, int shift) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int line = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= columns / 2 || line >= lines) return;
    uchar4 left = picture[line * columns + column];
    uchar4 right = picture[line * columns + columns - 1 - column];
    left.x >>= shift;
    right.x >>= shift;
    picture[line * columns + column] = right;
    picture[line * columns + columns - 1 - column] = left;
}
