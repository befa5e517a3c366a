__device__ int find(const int*a, int n, int key) {
    for (int i = 0; i<n; i++) {
        if (a[i] == key) return i;
    }
    return -1;
}
__device__ int bs(const int*a, int n, int key) {
    int lo = 0, hi = n-1;
    while (lo <= hi) {
        int mid = (lo+hi)>>1;
        if (a[mid] == key) return mid;
        else if (a[mid]<key) lo = mid+1;
        else hi = mid-1;
    }
    return -(lo+1);
}
__device__ bool wr(int*o, const int*a, int i) {
    for (int q = 0; q<3; q++) {
        for (int k = 0; k<4; k++) {
            if (a[k] == i) {
                o[i] += q;
                return true;
            }
        }
        if (a[q]>8) return false;
    }
    o[i] -= 1;
    return false;
}
__global__ void retloop(const int*a, const int*keys, int*o, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    for (int r = 0; r<2; r++) {
        if (keys[i] == r*7) return;
        o[i] += 1;
    }
    o[i] += find(a, n, keys[i])*10+bs(a, n, keys[i]);
    if (wr(o, a, i)) o[i] += 100;
}
