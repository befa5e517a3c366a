__global__ void sw(const int*a, int*o, int n) {
    int i = threadIdx.x;
    if (i >= n) return;
    int r = 0;
    switch (a[i]) {
        case 0: r = 1;
        break;
        case 1: case 2: r = 2;
        case 3: r += 10;
        if (i>3) break;
        r += 100;
        break;
        default: r = -1;
        case 9: r -= 5;
    }
    o[i] = r;
    int c;
    for (c = 0; c<10; c++) {
        if (a[c%n] == 3) break;
    }
    o[i] += c*1000;
    switch (a[i]&1) {
        case 1: for (int k = 0; k<5; k++) {
            if (k == 3) break;
            if (k == 1) continue;
            o[i] += k;
        }
    }
}
