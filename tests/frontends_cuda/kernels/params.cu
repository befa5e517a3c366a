#define CHECK(x) do { if ((x)) { r += 1; } } while (0)
#define FOR(i, n) for (int i = 0; i<(n); ++i)
#define SQ(x) ((x)*(x))
__global__ void params(const int*a, int*o, int n) {
    int t = threadIdx.x, r = 0;
    if (t<n) {
        CHECK(a[t]>3);
        FOR(k, t) r += SQ(a[k]-1);
        o[t] = r;
        int i, j;
        for (i = 0, j = 10; i<j; i += 2, j--) o[t] += i*j;
        for (i = n; i>0; i /= 2) o[t]++;
        for (unsigned k = 0; k<n; k += 3) o[t] += k;
        for (int k = n; k-->0;) o[t] ^= k;
        for (i = 3; i<n; ++i);
        o[t] += i;
    }
}
