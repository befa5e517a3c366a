__host__ __device__ inline float3 operator+(const float3&a, const float3&b) {
    return make_float3(a.x+b.x, a.y+b.y, a.z+b.z);
}
__host__ __device__ inline float3 operator*(float s, const float3 a) {
    return make_float3(s*a.x, s*a.y, s*a.z);
}
__device__ inline void operator += (float3&a, float3 b) {
    a.x += b.x;
    a.y += b.y;
    a.z += b.z;
}
__device__ inline float dot(float3 a, float3 b) {
    return a.x*b.x+a.y*b.y+a.z*b.z;
}
__global__ void ops(const float3*p, const float3*q, float3*o, float*e, int n) {
    int i = threadIdx.x;
    if (i<n) {
        float3 a = p[i], b = q[i];
        float3 c = a+2.0f*b;
        c += a;
        o[i] = c;
        e[i] = dot(c, a+b);
    }
}
