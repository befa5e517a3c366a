__global__ void unsig(const unsigned*a, const int*b, unsigned*o, long long*l, int n) {
    unsigned i = threadIdx.x;
    if (i<n) {
        o[i] = a[i]/3+a[i]%7+(a[i]>>3)+(b[i]<a[i]?1:0)+(unsigned)(b[i]/2)+(unsigned)(b[i]*a[i]);
        o[i] += (a[i]-1u<b[i])+(b[i]>>1);
        l[i] = (long long)a[i]*b[i]-a[i];
        l[i] += b[i]*1LL*b[i]%13+(1ull<<40);
        unsigned short s = a[i];
        s += 60000;
        l[i] += s;
        signed char c = b[i];
        c *= 3;
        l[i] += c;
        o[i] += -a[i];
        o[i] = ~o[i];
        l[i] += (i-1)>0x7fffffff;
    }
}
