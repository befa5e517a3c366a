__global__ void lit(const float*x, double*y, float*w, int n) {
    int i = threadIdx.x;
    if (i<n) {
        y[i] = 0.1*x[i];
        w[i] = x[i]*0.1+1.0/3;
        double t = x[i];
        t = t*1e-3+sqrt(t*t+1);
        y[i] += t;
        w[i] += pow(x[i], 2)+fabs(x[i]);
    }
}
