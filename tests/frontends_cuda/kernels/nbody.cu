#define SOFT 1e-9f
struct Body{
    float x, y, z, vx, vy, vz;
};
__device__ float3 bodyBody(float4 bi, float4 bj, float3 ai) {
    float3 r;
    r.x = bj.x-bi.x;
    r.y = bj.y-bi.y;
    r.z = bj.z-bi.z;
    float d2 = r.x*r.x+r.y*r.y+r.z*r.z+0.01f;
    float inv = rsqrtf(d2*d2*d2);
    float s = bj.w*inv;
    ai.x += r.x*s;
    ai.y += r.y*s;
    ai.z += r.z*s;
    return ai;
}
__global__ void nbody(const float4* pos, float4* acc, int n) {
    __shared__ float4 sh[4];
    int g = blockIdx.x*blockDim.x+threadIdx.x;
    float4 me = pos[g];
    float3 a = {0.f, 0.f, 0.f};
    for (int i = 0, tile = 0; i<n; i += blockDim.x, tile++) {
        int idx = tile*blockDim.x+threadIdx.x;
        sh[threadIdx.x] = pos[idx];
        __syncthreads();
        for (int j = 0; j<blockDim.x; j++) a = bodyBody(me, sh[j], a);
        __syncthreads();
    }
    float4 r = {a.x, a.y, a.z, 0.0f};
    acc[g] = r;
}
