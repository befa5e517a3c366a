// Rows of length one, but for those that are too short, and a weight that a close pair does not exceed.
__global__ void normalized(double *u, double *w, const double *x, double eps, double most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2];
    double norm = sqrt(a * a + b * b + c * c);
    double scale = 1.0 / fmax(norm, eps);
    u[3 * i] = a * scale;
    u[3 * i + 1] = b * scale;
    u[3 * i + 2] = c * scale;
    w[i] = fmin(1.0 / norm, most) + fmax(log(norm), -4.0);
}
