#define NX 8
#define NY 6
#define CELLS (NX * NY)
#define F(q, x, y) f_in[(q) * CELLS + (y) * NX + (x)]
#define OUT(q, x, y) f_out[(q) * CELLS + (y) * NX + (x)]
#define RIGHT(x) (((x) + 1) % NX)
#define LEFT(x) (((x) + NX - 1) % NX)
#define UP(y) (((y) + 1) % NY)
#define DOWN(y) (((y) + NY - 1) % NY)

// D2Q5: pull the distributions from the neighbours (periodic), then relax them toward equilibrium
__global__ void stream_and_collide(const float *f_in, float *f_out, float omega) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= NX || y >= NY) return;

    float f0 = F(0, x, y);
    float f1 = F(1, LEFT(x), y);
    float f2 = F(2, RIGHT(x), y);
    float f3 = F(3, x, DOWN(y));
    float f4 = F(4, x, UP(y));

    float rho = f0 + f1 + f2 + f3 + f4;
    float ux = (f1 - f2) / rho;
    float uy = (f3 - f4) / rho;

    OUT(0, x, y) = f0 + omega * (rho / 3.0f - f0);
    OUT(1, x, y) = f1 + omega * (rho / 6.0f * (1.0f + 3.0f * ux) - f1);
    OUT(2, x, y) = f2 + omega * (rho / 6.0f * (1.0f - 3.0f * ux) - f2);
    OUT(3, x, y) = f3 + omega * (rho / 6.0f * (1.0f + 3.0f * uy) - f3);
    OUT(4, x, y) = f4 + omega * (rho / 6.0f * (1.0f - 3.0f * uy) - f4);
}
