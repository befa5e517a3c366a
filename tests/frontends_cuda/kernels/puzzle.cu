__global__ void puzzle(const int*a, const unsigned*u, int*o, unsigned*v, int n) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i<n) {
        int x = a[i];
        o[i] = x/3 + x%5 - (x>>2) + (x<<3) ^ (~x & 0xff);
        o[i] += (x<0?-x:x)/7;
        unsigned w = u[i];
        w ^= w<<13;
        w ^= w>>17;
        w ^= w<<5;
        v[i] = w*1664525u+1013904223u - (unsigned)x;
        o[i] += (int)(w/3) + (char)x + (short)(w) + (unsigned char)x;
        long long L = (long long)x*x;
        o[i] += (int)(L>>3);
        o[i] += __popc(w)+__clz(x)+__ffs(x);
        v[i] += __brev(w)+__umulhi(w, 12345u);
        o[i] += x == 3 ? 1: x != 4;
    }
}
