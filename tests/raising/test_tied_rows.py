"""Rows of n elements that a block of n threads stores with no guard: n is the block's size, which is checked."""

import numpy as np
import pytest

from kraise import pipeline

SOLVED = """
__global__ void solved(const float *L, const float *b, float *x, int n) {
    extern __shared__ float xs[];
    int t = threadIdx.x, row = blockIdx.x * %s;
    float acc = b[row + t];
    for (int k = 0; k < n; k++) {
        if (t == k) xs[k] = acc / L[k * n + k];
        %s
        if (t > k) acc -= L[t * n + k] * xs[k];
        __syncthreads();
    }
    x[row + t] = acc / L[t * n + t];
}"""


def test_a_triangular_system_in_each_block():
    done = pipeline.translate(SOLVED % ("n", "__syncthreads();"), "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    found: dict = {}
    exec(done.text, found)
    n, rng = 5, np.random.default_rng(2)
    low = np.tril(rng.normal(size=(n, n)) + 3 * np.eye(n)).astype(np.float32)
    b = rng.normal(size=(2, n)).astype(np.float32)
    got = found["solved"](low.ravel(), b.ravel(), np.zeros(2 * n, np.float32), n, grid=2, block=n)
    np.testing.assert_allclose(np.asarray(got).reshape(2, n), np.linalg.solve(low, b.T).T, atol=1e-5)
    with pytest.raises(ValueError, match="n must be block"):
        found["solved"](low.ravel(), b.ravel(), np.zeros(2 * n, np.float32), n, grid=2, block=n - 1)


@pytest.mark.parametrize(
    ("row", "barrier"), [("n", ""), ("(n - 1)", "__syncthreads();")], ids=["no barrier", "overlap"]
)
def test_races(row, barrier):
    done = pipeline.translate(SOLVED % (row, barrier), "k.cu")
    assert "KR201" in {d.code for d in done.diagnostics}
