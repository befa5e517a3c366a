#include <math.h>
__global__ void block_norm(const float *x, float *y, int n) {
    __shared__ float s[64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? x[i] * x[i] : 0.0f;
    __syncthreads();
    for (int k = blockDim.x / 2; k > 0; k >>= 1) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (i < n) y[i] = s[0] > 0.0f ? x[i] / sqrtf(s[0]) : 0.0f;
}
__global__ void lse_rows(const float *x, const int *mask, float *y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float m = -INFINITY;
    for (int c = 0; c < cols; c++) if (mask[r * cols + c]) m = fmaxf(m, x[r * cols + c]);
    if (m == -INFINITY) { y[r] = 0.0f; return; }
    float s = 0.0f;
    for (int c = 0; c < cols; c++) if (mask[r * cols + c]) s += expf(x[r * cols + c] - m);
    y[r] = m + logf(s);
}
__global__ void lj(const float3 *p, float *e, float rc2, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int j = 0; j < n; ++j) {
        float dx = p[i].x - p[j].x, dy = p[i].y - p[j].y, dz = p[i].z - p[j].z;
        float r2 = dx * dx + dy * dy + dz * dz;
        if (j == i || r2 > rc2) continue;
        float i2 = 1.f / r2, i6 = i2 * i2 * i2;
        s += 4.f * i6 * (i6 - 1.f);
    }
    e[i] = s;
}
struct Ray { float ox, oy, dx, dy; };
__device__ float hit(Ray r, float rad) {
    float a = r.dx * r.dx + r.dy * r.dy;
    if (a == 0.f) return -1.f;
    float b = r.ox * r.dx + r.oy * r.dy;
    float c = r.ox * r.ox + r.oy * r.oy - rad * rad;
    float d = b * b - a * c;
    if (d <= 0.f) return -2.f;
    return (-b - sqrtf(d)) / a;
}
__global__ void trace(const Ray *r, const float *rad, float *t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) t[i] = hit(r[i], rad[i]);
}
__global__ void warp_rms(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] * x[i] : 0.f;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
    if (i < n) y[i] = v > 0.f ? x[i] * rsqrtf(v) : x[i];
}
__global__ void quats(float4 *q, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 a = q[i];
    float m = sqrtf(a.x * a.x + a.y * a.y + a.z * a.z + a.w * a.w);
    if (m < 1e-6f) { q[i] = make_float4(0.f, 0.f, 0.f, 1.f); return; }
    q[i] = make_float4(a.x / m, a.y / m, a.z / m, a.w / m);
}
__global__ void slerp(const float *a, const float *b, float *o, float t, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float c = a[2 * i] * b[2 * i] + a[2 * i + 1] * b[2 * i + 1];
        float wa, wb;
        if (c > 0.9995f || c < -0.9995f) { wa = 1.f - t; wb = t; }
        else {
            float th = acosf(c), s = sinf(th);
            wa = sinf((1.f - t) * th) / s; wb = sinf(t * th) / s;
        }
        o[2 * i] = wa * a[2 * i] + wb * b[2 * i];
        o[2 * i + 1] = wa * a[2 * i + 1] + wb * b[2 * i + 1];
    }
}
__global__ void limiter(const float *u, float *f, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 1 || i >= n - 1) return;
    float a = u[i] - u[i - 1], b = u[i + 1] - u[i];
    float r = b != 0.f ? a / b : 0.f;
    float phi = r > 0.f ? 2.f * r / (1.f + r) : 0.f;
    f[i] = 0.5f * phi * b;
}
__global__ void bisect(const float *c, float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = c[i];
    if (v <= 0.f) { x[i] = 0.f; return; }
    float y = v > 1.f ? v : 1.f;
    for (int k = 0; k < 40; k++) {
        float d = 3.f * y * y;
        if (d == 0.f) break;
        float s = (y * y * y - v) / d;
        y -= s;
        if (fabsf(s) < 1e-7f) break;
    }
    x[i] = y;
}
__global__ void adam(float *w, float *m, float *v, const float *g, float lr, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.99f * v[i] + 0.01f * g[i] * g[i];
        w[i] -= v[i] > 0.f ? lr * m[i] / sqrtf(v[i]) : 0.f;
    }
}
__global__ void huber(const float *x, const float *y, float *l, float delta, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float d = fabsf(x[i] - y[i]);
    l[i] = d <= delta ? 0.5f * d * d : delta * (d - 0.5f * delta);
}
__global__ void erfs(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = fabsf(v) > 1e-3f ? erff(v) / v : 1.1283792f;
}
__global__ void color(const float *rgb, float *hsv, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float r = rgb[3 * i], g = rgb[3 * i + 1], b = rgb[3 * i + 2];
    float mx = fmaxf(r, fmaxf(g, b)), mn = fminf(r, fminf(g, b)), d = mx - mn;
    float h = 0.f;
    if (d > 0.f) {
        if (mx == r) h = fmodf((g - b) / d, 6.f);
        else if (mx == g) h = (b - r) / d + 2.f;
        else h = (r - g) / d + 4.f;
    }
    hsv[3 * i] = 60.f * h;
    hsv[3 * i + 1] = mx > 0.f ? d / mx : 0.f;
    hsv[3 * i + 2] = mx;
}
__global__ void divs(const float *x, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 0.f;
    for (int k = 1; k <= m; k++) s += x[i] / k + powf(x[i], (float)k) / (k + 1) + x[i] / (float)(k * k);
    y[i] = s;
}
__global__ void hist_weight(const float *x, const float *w, float *h, float lo, float width, int bins, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = (int)((x[i] - lo) / width);
    if (b >= 0 && b < bins) atomicAdd(&h[b], w[i] > 0.f ? sqrtf(w[i]) : 0.f);
}

__global__ void capped(const double *x, double *o, double cap, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) o[i] = fmin(1.0 / fabs(x[i]), cap) + fmax(log(fabs(x[i])), -10.0) + fmin(0.0, expm1(x[i]));
}

__global__ void clamped_ratio(const double *x, const double *y, double *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double r = x[i] / y[i];
        o[i] = fmin(fmax(r, -1.0), 1.0);
    }
}

__global__ void largest_root(const double *x, double *o, int n) {
    __shared__ double s[4];
    int t = threadIdx.x, i = blockIdx.x * 4 + t;
    s[t] = i < n ? sqrt(fabs(x[i])) : 0.0;
    __syncthreads();
    for (int w = 2; w > 0; w >>= 1) {
        if (t < w) s[t] = fmax(s[t], s[t + w]);
        __syncthreads();
    }
    if (t == 0) o[blockIdx.x] = s[0];
}
