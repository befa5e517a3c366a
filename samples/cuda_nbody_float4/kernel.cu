#define SOFTENING 1e-3f

__device__ float3 interaction(float4 a, float4 b, float3 acc) {
    float3 r;
    r.x = b.x - a.x;
    r.y = b.y - a.y;
    r.z = b.z - a.z;
    float dist2 = r.x * r.x + r.y * r.y + r.z * r.z + SOFTENING;
    float inv = rsqrtf(dist2);
    float s = b.w * inv * inv * inv;
    acc.x += r.x * s;
    acc.y += r.y * s;
    acc.z += r.z * s;
    return acc;
}

// accelerations; the mass of a body is the fourth component of its position
__global__ void accelerations(const float4 *pos, float3 *acc, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 me = pos[i];
        float3 a = make_float3(0.0f, 0.0f, 0.0f);
        for (int j = 0; j < n; j++) a = interaction(me, pos[j], a);
        acc[i] = a;
    }
}
