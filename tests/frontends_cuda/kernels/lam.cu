__global__ void lam(const float*x, float*y, int n) {
    int i = threadIdx.x;
    auto sq=[](float v) {
        return v*v;
    };
    auto at=[&](int k)->float{
        if (k<0) return 0.f;
        return k<n?x[k]:1.f;
    };
    auto idx=[=](int a, int b) {
        return a*2+b;
    };
    if (i<n) y[i] = sq(at(i-1))+at(idx(i, 1));
}
