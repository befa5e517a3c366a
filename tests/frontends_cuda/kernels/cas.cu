__device__ double atomicAddD(double*a, double v) {
    unsigned long long int*p = (unsigned long long int*)a;
    unsigned long long old = *p, assumed;
    do{
        assumed = old;
        old = atomicCAS(p, assumed, __double_as_longlong(v+__longlong_as_double(assumed)));
    } while (assumed != old);
    return __longlong_as_double(old);
}
__global__ void cas(double*s, const double*x, int n) {
    int i = threadIdx.x;
    if (i<n) atomicAddD(s, x[i]);
}
