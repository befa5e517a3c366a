struct P{
    float pos[3];
    int id;
    float2 uv;
};
__global__ void aosloc(const float*x, float*y, int n) {
    __shared__ P s[4];
    int t = threadIdx.x;
    P p;
    p.pos[0] = x[t];
    p.pos[1] = 2*x[t];
    p.pos[2] = 1;
    p.id = t;
    p.uv = make_float2(x[t], 3.f);
    s[t] = p;
    __syncthreads();
    P q = s[(t+1)%4];
    float r = 0;
    for (int k = 0; k<3; k++) r += q.pos[k];
    y[t] = r+q.id+q.uv.x*q.uv.y;
    __syncthreads();
    s[t].uv.x = r;
    y[t] += s[t].uv.x;
}
