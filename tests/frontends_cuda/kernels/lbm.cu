#define Q 5
#define NX 6
#define NY 4
#define F(q, x, y) f[(q)*NX*NY+(y)*NX+(x)]
__constant__ int cx[Q] = {0, 1, 0, -1, 0};
__constant__ int cy[Q] = {0, 0, 1, 0, -1};
__constant__ float w[Q] = {0.333f, .1667f, .1667f, .1667f, .1667f};
__global__ void lbm(const float*f, float*g, float tau) {
    const int x = blockIdx.x*blockDim.x+threadIdx.x, y = blockIdx.y*blockDim.y+threadIdx.y;
    if (x<NX && y<NY) {
        float l[Q];
        float rho = 0, ux = 0, uy = 0;
#pragma unroll
        for (int q = 0; q<Q; q++) {
            int xs = (x-cx[q]+NX)%NX, ys = (y-cy[q]+NY)%NY;
            l[q] = F(q, xs, ys);
            rho += l[q];
            ux += cx[q]*l[q];
            uy += cy[q]*l[q];
        }
        ux /= rho;
        uy /= rho;
        for (int q = 0; q<Q; q++) {
            float cu = cx[q]*ux+cy[q]*uy;
            float feq = w[q]*rho*(1.f+3.f*cu);
            g[q*NX*NY+y*NX+x] = l[q]+(feq-l[q])/tau;
        }
    }
}
