__global__ void kmeans(const float*pts, const float*cent, int*label, int n, int k, int d) {
    int i = blockIdx.x*blockDim.x+threadIdx.x;
    if (i<n) {
        float best = FLT_MAX;
        int arg = -1;
        for (int c = 0; c<k; c++) {
            float dist = 0;
            for (int j = 0; j<d; j++) {
                float t = pts[i*d+j]-cent[c*d+j];
                dist += t*t;
            }
            if (dist<best) {
                best = dist;
                arg = c;
            }
        }
        label[i] = arg;
    }
}
