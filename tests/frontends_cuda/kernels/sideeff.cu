__global__ void sideeff(const int*a, int*o, int n) {
    int i = 0, k = 0;
    int b[4] = {1, 2};
    if (threadIdx.x == 0) {
        int j = n;
        while (j-->0) {
            o[k++] = a[i++];
        }
        int x, y, z;
        x = y = z = 5;
        x += y++*2;
        z -= --y;
        o[0] += x;
        o[1] += y;
        o[2] += z;
        b[x%4] += 7;
        b[3] = (x>3, y+1);
        for (int q = 0, r = 3; q<r; q++, --r) o[3] += b[q]+q*r;
        o[4] += b[3];
        do {
            o[5]++;
        }  while (o[5]<20 && o[5]%7);
        int t = 0;
        for (;;) {
            if (++t>5) break;
            if (t&1) continue;
            o[6] += t;
        }
        o[6] += t;
    }
}
