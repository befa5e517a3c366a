"""Threads between ends that are a minimum and a maximum of sizes: one diagonal of a table by each launch."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

DIAGONAL = """__global__ void f(int *H, const int *A, const int *B, int M, int N, int d) {{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    int start = max({first}), end = min({last});
    int i = start + t;
    if (i > end) return;
    int j = d - i + 1;
    int best = max(0, H[(i - 1) * (N + 1) + j - 1] + (A[i - 1] == B[j - 1] ? 2 : -1));
    best = max(best, max(H[(i - 1) * (N + 1) + j], H[i * (N + 1) + j - 1]) - 1);
    H[i * (N + 1) + j] = best;
}}
"""
ENDS = {"first": "1, d - N + 1", "last": "M, d"}


def test_a_diagonal_of_a_table():
    f = load_module(pipeline.translate(DIAGONAL.format(**ENDS), "f.cu").text).f
    rng, (M, N) = np.random.default_rng(2), (5, 4)
    A, B = rng.integers(0, 3, M).astype(np.int32), rng.integers(0, 3, N).astype(np.int32)
    table, H = np.zeros((M + 1, N + 1), int), np.zeros((M + 1) * (N + 1), np.int32)
    for d in range(1, M + N):
        H = f(H, A, B, M, N, d)
    for i in range(1, M + 1):
        for j in range(1, N + 1):
            best = max(0, table[i - 1, j - 1] + (2 if A[i - 1] == B[j - 1] else -1))
            table[i, j] = max(best, table[i - 1, j] - 1, table[i, j - 1] - 1)
    assert np.asarray(H).reshape(M + 1, N + 1).tolist() == table.tolist()


@pytest.mark.parametrize("change", [{"first": "1, d - N"}, {"last": "M, d + 1"}, {"first": "1, 1"}])
def test_beyond_the_ends_threads_may_meet(change):
    done = pipeline.translate(DIAGONAL.format(**ENDS | change), "f.cu")
    assert not done.text and done.diagnostics[0].code == "KR201"
