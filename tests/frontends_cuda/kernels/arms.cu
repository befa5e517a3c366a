// pointers that a branch sets to one array or another, and that move before or after it
__global__ void arms(const float *a, const float *b, const float *c, float *y, int n, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n + m) return;
    int k = i;
    const float *p, *q = a, *r = c;
    if (i < n) p = a; else { k -= n; p = b; }
    p += k;
    if (i >= n) q = b - n;
    float s = q[i] * 10;
    if (k % 3 == 0) { r += k % 5; s += *r; if (k % 2) r = a + 1; else r = b; r++; }
    for (int t = 0; t < 2; t++) { s += r[t]; r++; }
    const float *z = k % 2 ? (k % 4 ? a : b) : c;
    s += *(z + 2) + z[1];
    if (p == q) s += 100;
    if (r) s += (p == a + k) * 3 + (z != c ? 1000 : 2000);
    y[i] = *p + s + p[-(k > 0)];
}
