struct Grid2D {
    int nx;
    int ny;
    float dx;
    float dy;
};

struct Physics {
    float diffusion;
    float decay;
};

// explicit step of a reaction-diffusion equation; all settings come in two structs
__global__ void diffuse(const float *u, float *next, Grid2D g, Physics p, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int j = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (i < g.nx - 1 && j < g.ny - 1) {
        int k = j * g.nx + i;
        float lx = (u[k - 1] - 2.0f * u[k] + u[k + 1]) / (g.dx * g.dx);
        float ly = (u[k - g.nx] - 2.0f * u[k] + u[k + g.nx]) / (g.dy * g.dy);
        next[k] = u[k] + dt * (p.diffusion * (lx + ly) - p.decay * u[k]);
    }
}
