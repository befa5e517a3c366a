// Attention in one pass over the keys: the largest score so far, and sums relative to it, in registers of each thread.

#define TILE 16
#define DIM 16

// One thread a query; the keys and the values come in tiles.
__global__ void attend(const float *query, const float *key, const float *value, float *out, int keys, float scale) {
    __shared__ float k_tile[TILE][DIM], v_tile[TILE][DIM];
    int t = threadIdx.x;
    int row = blockIdx.x * TILE + t;
    float q[DIM], sum[DIM];
    for (int d = 0; d < DIM; ++d) {
        q[d] = query[row * DIM + d];
        sum[d] = 0.0f;
    }
    float largest = -INFINITY, total = 0.0f;
    for (int first = 0; first < keys; first += TILE) {
        for (int d = 0; d < DIM; ++d) {
            k_tile[t][d] = key[(first + t) * DIM + d];
            v_tile[t][d] = value[(first + t) * DIM + d];
        }
        __syncthreads();
        for (int j = 0; j < TILE; ++j) {
            float score = 0.0f;
            for (int d = 0; d < DIM; ++d)
                score += q[d] * k_tile[j][d];
            score *= scale;
            float larger = fmaxf(largest, score);
            float keep = expf(largest - larger), weight = expf(score - larger);
            total = total * keep + weight;
            for (int d = 0; d < DIM; ++d)
                sum[d] = sum[d] * keep + weight * v_tile[j][d];
            largest = larger;
        }
        __syncthreads();
    }
    for (int d = 0; d < DIM; ++d)
        out[row * DIM + d] = sum[d] / total;
}

// The same where a query sees the keys before it and its own; width is no number here.
__global__ void attend_before(const float *query, const float *key, const float *value, float *sum, float *logs,
                              int n, int width) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float largest = -1e30f, total = 0.0f;
    for (int d = 0; d < width; ++d)
        sum[i * width + d] = 0.0f;
    for (int j = 0; j <= i; ++j) {
        float score = 0.0f;
        for (int d = 0; d < width; ++d)
            score += query[i * width + d] * key[j * width + d];
        if (score > largest) {
            float keep = expf(largest - score);
            total *= keep;
            for (int d = 0; d < width; ++d)
                sum[i * width + d] *= keep;
            largest = score;
        }
        float weight = expf(score - largest);
        total += weight;
        for (int d = 0; d < width; ++d)
            sum[i * width + d] += weight * value[j * width + d];
    }
    for (int d = 0; d < width; ++d)
        sum[i * width + d] /= total;
    logs[i] = largest + logf(total);
}
