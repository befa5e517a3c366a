__global__ void vec(const float2*a, float2*b, uchar4*c, int n) {
    int i = threadIdx.x;
    if (i<n) {
        float2 v = a[i];
        v.x *= 2;
        b[i] = make_float2(v.y, v.x);
        b[i].y += 1.f;
        uchar4 q = c[i];
        q.x = (unsigned char)(q.y+q.z);
        c[i] = q;
        c[i].w = q.x>>1;
    }
}
