struct Vec3{
    float x, y, z;
    __device__ Vec3() {
    }
    __device__ Vec3(float a, float b, float c):x(a), y(b), z(c) {
    }
    __device__ float norm2() const {
        return x*x+y*y+z*z;
    }
    __device__ Vec3 operator-(const Vec3&o) const {
        return Vec3(x-o.x, y-o.y, z-o.z);
    }
    __device__ Vec3& operator *= (float s) {
        x *= s;
        y *= s;
        z *= s;
        return *this;
    }
    __device__ void add(float v) {
        x += v;
        this->y += v;
    }
};
__global__ void cls(const float*p, float*y, int n) {
    int i = threadIdx.x;
    if (i<n) {
        Vec3 a(p[3*i], p[3*i+1], p[3*i+2]);
        Vec3 b = Vec3(1.f, 2.f, 3.f);
        Vec3 c = a-b;
        c.add(0.5f);
        c *= 2.f;
        y[i] = c.norm2()+(b-a).norm2();
    }
}
