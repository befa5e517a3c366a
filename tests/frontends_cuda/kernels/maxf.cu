__device__ static float atomicMaxF(int* address, float val) {
    int old = *address, assumed;
    do{
        assumed = old;
        old = atomicCAS(address, assumed, __float_as_int(fmaxf(val, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void maxf(int*m, const float*x, int n) {
    int i = threadIdx.x;
    if (i<n) atomicMaxF(m, x[i]);
}
