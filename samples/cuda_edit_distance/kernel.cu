// Weighted edit distance of pairs of strings, one row of the table at a time.
__global__ void edit_distance(const char *s, const char *t, const float *gap, float *row, float *out,
                              int m, int n, int pairs) {
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= pairs) return;
    float *d = row + p * (n + 1);
    for (int j = 0; j <= n; j++) d[j] = j * gap[p];
    for (int i = 1; i <= m; i++) {
        float diag = d[0];
        d[0] = i * gap[p];
        for (int j = 1; j <= n; j++) {
            float up = d[j];
            float cost = s[p * m + i - 1] != t[p * n + j - 1] ? 1.0f : 0.0f;
            d[j] = fminf(diag + cost, fminf(up, d[j - 1]) + gap[p]);
            diag = up;
        }
    }
    out[p] = d[n];
}
