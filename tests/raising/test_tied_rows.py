"""Rows of n elements that a block of n threads stores with no guard: n is the block's size, which is checked."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

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


HEADS = "__global__ void f(const float *x, const float *g, float *y, int T, int H, int D) {{ {} }}"
PLACES = {  # of head h in row t, with threads for the heads
    "a loop": "for (int i = threadIdx.x; i < D; i += blockDim.x) "
    "y[(t * H + h) * D + i] = x[(t * H + h) * D + i] * g[t];",
    "a guard": "int i = threadIdx.x; if (i < D) y[(t * H + h) * D + i] = x[(t * H + h) * D + i] * g[t];",
    "pairs": "int i = threadIdx.x; if (i < D / 2) { int at = (t * H + h) * D + 2 * i; "
    "y[at] = x[at] * g[t] - x[at + 1]; y[at + 1] = x[at] + x[at + 1]; }",
}


@pytest.mark.parametrize("name", PLACES)
def test_rows_by_a_block_and_the_threads_along_another_axis(name):
    done = pipeline.translate(HEADS.format("int t = blockIdx.x, h = threadIdx.y; " + PLACES[name]), "k.cu")
    assert done.text is not None and "arange" not in done.text and "a block has H threads along y" in done.text
    case = {"shapes": {"x": (30,), "g": (2,), "y": (30,)}, "values": {"T": 2, "H": 3, "D": 5}}
    agrees(done, pipeline.Request(**case, grid=(2,), block=(5, 3)), name)
    with pytest.raises(ValueError, match="H threads along y"):
        load_module(done.text).f(np.ones(30), np.ones(2), np.ones(30), 2, 3, 5, grid=2, block=(5, 2))


def test_pairs_of_a_row_that_only_the_block_bounds():
    """Twice as many elements in a row as a block has threads: else two threads might have one pair."""
    body = (
        "int at = (blockIdx.x * H + blockIdx.y) * D + 2 * threadIdx.x; float a = y[at], b = y[at + 1];"
        "y[at] = a * g[blockIdx.x] - b; y[at + 1] = a + b;"
    )
    done = pipeline.translate(HEADS.format(body), "k.cu")
    assert done.text is not None, done.diagnostics
    case = {"shapes": {"x": (1,), "g": (2,), "y": (24,)}, "values": {"T": 2, "H": 3, "D": 4}}
    agrees(done, pipeline.Request(**case, grid=(2, 3), block=(2,)))
    with pytest.raises(ValueError, match="D must be twice block"):
        load_module(done.text).f(np.ones(1), np.ones(2), np.ones(24), 2, 3, 4, grid=(2, 3), block=3)
    beyond = pipeline.translate(HEADS.format(body.replace("y[at + 1] =", "y[at + 2] =")), "k.cu")
    assert beyond.text is None
