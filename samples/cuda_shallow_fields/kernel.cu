struct Fields {
    float *height;
    float *east;
    float *north;
    int nx;
    int ny;
};

// One step of the linear shallow-water equations, away from the rim.
__global__ void advance(Fields now, Fields next, float gravity, float dt) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= now.nx - 1 || j >= now.ny - 1) return;
    int at = j * now.nx + i;
    float flow = now.east[at + 1] - now.east[at - 1] + now.north[at + now.nx] - now.north[at - now.nx];
    next.height[at] = now.height[at] - 0.5f * dt * flow;
    next.east[at] = now.east[at] - gravity * dt * (now.height[at + 1] - now.height[at - 1]);
    next.north[at] = now.north[at] - gravity * dt * (now.height[at + now.nx] - now.height[at - now.nx]);
}
