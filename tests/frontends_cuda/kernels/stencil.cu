__global__ void stencil(const float* in, float* out, int nx, int ny, int nz, float c0, float c1) {
    int i = blockIdx.x*blockDim.x+threadIdx.x, j = blockIdx.y*blockDim.y+threadIdx.y;
#define A(x, y, z) in[(x)+nx*((y)+ny*(z))]
    if (i<1 || j<1 || i >= nx-1 || j >= ny-1) return;
    for (int k = 1; k<nz-1; k++) out[i+nx*(j+ny*k)] = c1*(A(i, j, k+1)+A(i, j, k-1)+A(i, j+1, k)+A(i, j-1, k)+A(i+1, j, k)+A(i-1, j, k))-A(i, j, k)*c0;
}
