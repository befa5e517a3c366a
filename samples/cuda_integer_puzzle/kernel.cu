// C's integers: division toward zero, arithmetic and logical shifts, wrap-around, unsigned comparison
__global__ void integer_puzzle(const int *a, const int *b, const unsigned *u, int *quotient, int *shifted,
                               unsigned *mixed, long long *wide, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        quotient[i] = a[i] / b[i] * 1000 + a[i] % b[i];
        shifted[i] = (a[i] >> 3) ^ (int)(u[i] >> 5) ^ (b[i] << 2);
        unsigned h = u[i] ^ (u[i] >> 16);
        h *= 0x85ebca6bU;
        h = (h << 13) | (h >> 19);
        mixed[i] = a[i] < h ? h - a[i] : ~h;
        wide[i] = (long long)a[i] * b[i] - (a[i] & 0xff);
    }
}
