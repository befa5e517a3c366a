__device__ void swap_(float&a, float&b) {
    float t = a;
    a = b;
    b = t;
}
__device__ void sort3(float*v) {
    if (v[0]>v[1]) swap_(v[0], v[1]);
    if (v[1]>v[2]) swap_(v[1], v[2]);
    if (v[0]>v[1]) swap_(v[0], v[1]);
}
__global__ void swz(const float*x, float*y, int n) {
    int i = threadIdx.x;
    if (i<n) {
        float v[3] = {x[3*i], x[3*i+1], x[3*i+2]};
        sort3(v);
        y[i] = v[1];
        float m[2][3] = {{1, 2, 3}, {4, 5, 6}};
        for (int r = 0; r<2; r++) {
            float*row = m[r];
            row[0] += v[r];
            swap_(m[r][1], row[2]);
        }
        for (int r = 0; r<2; r++) for (int c = 0; c<3; c++) y[i] += m[r][c]*(c+1);
    }
}
