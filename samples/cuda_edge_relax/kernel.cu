// One round of Bellman-Ford over a list of edges; the cell is looked at before the atomic, which spares most of these.
#define UNREACHED 1000000

__global__ void relax(const int *from, const int *to, const int *weight, const int *dist, int *next, int edges) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges) return;
    int reached = dist[from[e]];
    int v = to[e];
    if (reached != UNREACHED && reached + weight[e] < next[v])
        atomicMin(&next[v], reached + weight[e]);
}
