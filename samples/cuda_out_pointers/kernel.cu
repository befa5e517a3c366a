#include <math.h>

__device__ void to_polar(float x, float y, float *radius, float &angle) {
    *radius = hypotf(x, y);
    angle = atan2f(y, x);
}

__device__ void rotate(float *x, float *y, float c, float s) {
    float old = *x;
    *x = c * old - s * *y;
    *y = s * old + c * *y;
}

// rotates each point by twice its own angle and stores both forms
__global__ void spin(float2 *points, float *radius, float *angle, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float px = points[i].x, py = points[i].y;
    float r, a;
    to_polar(px, py, &r, a);
    float s, c;
    sincosf(2.0f * a, &s, &c);
    rotate(&px, &py, c, s);
    points[i] = make_float2(px, py);
    radius[i] = r;
    angle[i] = a;
}
