__device__ unsigned int lcg(unsigned int*state) {
    *state = 1664525u*(*state)+1013904223u;
    return *state;
}
__global__ void lcgk(unsigned*seeds, float*out, int n) {
    int i = threadIdx.x;
    if (i<n) {
        unsigned s = seeds[i];
        float acc = 0;
        for (int k = 0; k<4; k++) acc += lcg(&s)/4294967296.0f;
        out[i] = acc;
        seeds[i] = s;
    }
}
