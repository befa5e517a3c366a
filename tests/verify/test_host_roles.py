"""Row pointers of a host function are drawn as such, through copies, other names and hosts that it calls."""

from __future__ import annotations

from kraise import pipeline
from tests.checks import verified

LEVELS = """
__global__ void level_of(const int *row, const int *col, int *dist, int level, int n, int *more) {
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || dist[v] != level) return;
    for (int e = row[v]; e < row[v + 1]; ++e)
        if (dist[col[e]] == -1) { dist[col[e]] = level + 1; *more = 1; }
}
int levels(const int *row, const int *col, int *dist, int n) {
    int *more, go = 1, level = 0;
    cudaMalloc(&more, sizeof(int));
    while (go) {
        cudaMemset(more, 0, sizeof(int));
        level_of<<<(n + 255) / 256, 256>>>(row, col, dist, level, n, more);
        cudaMemcpy(&go, more, sizeof(int), cudaMemcpyDeviceToHost);
        ++level;
    }
    return level;
}
int breadth_first(const int *h_row, const int *h_col, int *h_dist, int n, int m, int source) {
    int *row, *col, *dist, zero = 0;
    cudaMalloc(&row, (n + 1) * sizeof(int));
    cudaMalloc(&col, m * sizeof(int));
    cudaMalloc(&dist, n * sizeof(int));
    cudaMemcpy(row, h_row, (n + 1) * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(col, h_col, m * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemset(dist, 0xff, n * sizeof(int));
    cudaMemcpy(dist + source, &zero, sizeof(int), cudaMemcpyHostToDevice);
    int found = levels(row, col, dist, n);
    cudaMemcpy(h_dist, dist, n * sizeof(int), cudaMemcpyDeviceToHost);
    return found;
}
"""


def test_row_pointers_do_not_decrease():
    done = pipeline.translate(LEVELS, "levels.cu")
    assert "breadth_first" in done.raised, [d.reason for d in done.diagnostics]
    reports, problems = verified(done, pipeline.Request(seed=3))
    assert not problems and all(r.ok for r in reports), [r.failures for r in reports]
