struct Edge {
    int source;
    float weight;
};

// one step of PageRank; the edges that end in v are entry[v] .. entry[v + 1]
__global__ void pagerank(const int *entry, const Edge *edge, const float *rank, const int *degree, float *next, int n,
                         float damping) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n) return;
    float sum = 0.0f;
    int e = entry[v];
    while (e < entry[v + 1]) {
        const Edge in = edge[e];
        sum += rank[in.source] * in.weight / degree[in.source];
        ++e;
    }
    next[v] = (1.0f - damping) / n + damping * sum;
}
