"""Steps that are powers of two (``1 << (d + 1)`` beside ``1 << d``), a diagonal in a block, blocks of half an array."""

import pytest

from kraise import pipeline
from tests.checks import agrees, verified

SWEPT = """
__global__ void swept(float *x, int n, int d) {
    int k = (blockIdx.x * blockDim.x + threadIdx.x) * (1 << (d + 1));
    if (k < n) x[k + (1 << (d + 1)) - 1] += x[k + (1 << d) - %s];
}"""
ALIGNED = """
__global__ void aligned(const int *a, const int *b, int *H, int n, int m) {
    int t = threadIdx.x;
    for (int d = 0; d < n + m - 1; d++) {
        int j = d - t;
        if (t < n && j >= 0 && j < m)
            H[(t + 1) * (m + 1) + j + 1] = max(H[t * (m + 1) + j] + (a[t] == b[j]), H[(t + 1) * (m + 1) + j]);
        %s
    }
}"""
SCANNED = """
#define CELLS 16
__global__ void scanned(const float *x, float *y) {
    __shared__ float s[CELLS];
    int t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + t;
    s[t] = x[i];
    s[t + blockDim.x] = x[i + blockDim.x];
    for (int step = 1; step <= blockDim.x; step *= 2) {
        __syncthreads();
        int at = (t + 1) * 2 * step - 1;
        if (at < CELLS) s[at] += s[at - step];
    }
    for (int step = CELLS / 4; step > 0; step /= 2) {
        __syncthreads();
        int at = (t + 1) * step * 2 - 1;
        if (at + step < CELLS) s[at + step] += s[at];
    }
    __syncthreads();
    y[i] = s[t];
    y[i + blockDim.x] = s[t + blockDim.x];
}"""


def _verified(source, **asked):
    done = pipeline.translate(source, "k.cu")
    assert not done.diagnostics, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(gradients=False, **asked))
    return done.text


def test_steps_of_a_scan():
    _verified(SWEPT % "1", shapes={"x": (16,)}, values={"n": 16, "d": 1}, grid=(2,), block=(4,))


def test_diagonals():
    text = _verified(ALIGNED % "__syncthreads();", shapes={"a": (4,), "b": (3,), "H": (20,)}, values={"n": 4, "m": 3})
    assert text.count("fori_loop") == 1


def test_blocks_of_half_an_array():
    text = _verified(SCANNED, shapes={"x": (32,), "y": (32,)}, grid=(2,), block=(8,))
    assert "cumsum" in text and "a block has 8 threads" in text


@pytest.mark.parametrize("source", [SWEPT % "2", ALIGNED % ""], ids=["another thread's cell", "no barrier"])
def test_races(source):
    done = pipeline.translate(source, "k.cu")
    assert {d.code for d in done.diagnostics} == {"KR201"}


ROWS = """
__global__ void flat(const float *x, const float *w, float *y, int n, int lg) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (n << lg)) y[i] = w[i >> lg] * x[i] + (i & ((1 << lg) - 1));
}
__global__ void rows(const float *x, float *y, int n, int lg) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, width = 1 << lg;
    if (i >= n) return;
    float s = 0.0f;
    for (int k = 0; k < width; k++) s += x[(i << (lg + 1)) + k];
    y[i] = s;
}
__global__ void overlapping(const float *x, float *y, int n, int lg) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) for (int k = 0; k < 2 << lg; k++) y[(i << lg) + k] = x[i];
}
"""
NUMBA_ROWS = """
from numba import cuda

@cuda.jit
def flat(x, w, y, n, lg):
    i = cuda.grid(1)
    if i < n << lg:
        y[i] = w[i >> lg] * x[i] + (i & ((1 << lg) - 1))
"""


@pytest.mark.parametrize(("source", "file"), [(ROWS, "k.cu"), (NUMBA_ROWS, "k.py")])
def test_shifts_by_a_size_are_rows(source, file):
    done = pipeline.translate(source, file)
    assert done.text and "reshape(n, 1 << lg)" in done.text and "grid" not in done.text
    assert {d.code for d in done.diagnostics} == ({"KR201"} if "overlapping" in source else set())
    for n, lg in ((3, 2), (2, 0)):
        shapes = {"x": (n << lg + 1,), "w": (n,), "y": (n << lg + 1,)}
        reports, _ = verified(done, pipeline.Request(shapes=shapes, values={"n": n, "lg": lg}))
        assert reports and not [r.failures for r in reports if r.failures]
