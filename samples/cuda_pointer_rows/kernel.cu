// y = softmax-free row scores: a pointer to the row, one to the column
__global__ void row_scores(const float *weights, const float *features, float *scores, int classes, int dim, int batch) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    int b = blockIdx.y * blockDim.y + threadIdx.y;
    if (c >= classes || b >= batch) return;
    const float *w = weights + c * (dim + 1);
    const float *f = &features[b * dim];
    float score = w[dim];  // the bias comes last
    for (int k = 0; k < dim; ++k) score += *(w + k) * f[k];
    scores[b * classes + c] = score;
}
