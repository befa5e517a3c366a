__global__ void collatz(const int*a, int*o, int n) {
    int i = blockDim.x*blockIdx.x+threadIdx.x;
    if (i<n) {
        unsigned long long v = a[i];
        int c = 0;
        while (v != 1) {
            v = (v&1)?3*v+1:v>>1;
            if (++c >= 100) break;
        }
        o[i] = c;
        int g = a[i], h = 12;
        while (h) {
            int t = g%h;
            g = h;
            h = t;
        }
        o[i] += g<<8;
    }
}
