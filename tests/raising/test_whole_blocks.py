"""Barriers under guards that whole blocks pass together, and the guards that no multiple makes uniform."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options


def function(text, file, name):
    """The emitted function, and its module's text."""
    done = pipeline.translate(text, file, Options())
    assert done.text, [d.reason for d in done.diagnostics]
    found: dict = {}
    exec(done.text, found)
    return found[name], done.text


PRODUCT = """
#define T 4
__global__ void product(const float *a, const float *b, float *c, int n) {
    __shared__ float As[T][T];
    __shared__ float Bs[T][T];
    int row = blockIdx.y * T + threadIdx.y, col = blockIdx.x * T + threadIdx.x;
    if (row < n && col < n) {
        float s = 0.0f;
        for (int m = 0; m < n / T; ++m) {
            As[threadIdx.y][threadIdx.x] = a[row * n + m * T + threadIdx.x];
            Bs[threadIdx.y][threadIdx.x] = b[(m * T + threadIdx.y) * n + col];
            __syncthreads();
            for (int k = 0; k < T; ++k) s += As[threadIdx.y][k] * Bs[k][threadIdx.x];
            __syncthreads();
        }
        c[row * n + col] = s;
    }
}
"""
CORNER = """
from numba import cuda, float32

T = 4


@cuda.jit
def product(A, B, C):
    sA = cuda.shared.array((T, T), float32)
    sB = cuda.shared.array((T, T), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    if x >= C.shape[0] and y >= C.shape[1]:
        return
    s = float32(0.0)
    for i in range(int(A.shape[1] / T)):
        sA[tx, ty] = A[x, ty + i * T]
        sB[tx, ty] = B[tx + i * T, y]
        cuda.syncthreads()
        for j in range(T):
            s += sA[tx, j] * sB[j, ty]
        cuda.syncthreads()
    C[x, y] = s
"""
BLOCK = """
__global__ void mirror(const float *x, float *y, int n) {
    __shared__ float s[8];
    int i = blockIdx.x * 8 + threadIdx.x;
    if (GUARD) {
        s[threadIdx.x] = x[i];
        __syncthreads();
        y[i] = s[7 - threadIdx.x];
    }
}
"""


def codes(text, file="kernel.cu"):
    return {d.code for d in pipeline.translate(text, file, Options()).diagnostics if d.severity == "error"}


def test_a_guarded_product_of_whole_tiles():
    product, text = function(PRODUCT, "kernel.cu", "product")
    assert " @ " in text and "fori_loop" not in text
    a, b = (np.random.default_rng(seed).standard_normal((8, 8), np.float32) for seed in (1, 2))
    got = product(a.ravel(), b.ravel(), np.zeros(64, np.float32), 8)
    np.testing.assert_allclose(np.reshape(got, (8, 8)), a @ b, rtol=1e-5)
    with pytest.raises(ValueError, match="n must be a multiple of 4"):
        product(a.ravel(), b.ravel(), np.zeros(64, np.float32), 7)


def test_a_guard_that_lets_corners_pass():
    product, text = function(CORNER, "kernel.py", "product")
    assert " @ " in text and "grid" not in text
    a, b = (
        np.random.default_rng(seed).standard_normal(shape, np.float32) for seed, shape in ((1, (8, 12)), (2, (12, 4)))
    )
    np.testing.assert_allclose(product(a, b, np.zeros((8, 4), np.float32)), a @ b, rtol=1e-5)
    with pytest.raises(ValueError, match="multiple of 4"):
        product(a[:7], b, np.zeros((7, 4), np.float32))


@pytest.mark.parametrize(
    "store", ["C[x, 0] = s", "if s > 0:\n        C[x, y] = s", "if s > 0:\n        return\n    C[x, y] = s"]
)
def test_corners_stay_where_the_store_says_nothing_of_them(store):
    done = pipeline.translate(CORNER.replace("C[x, y] = s", store), "kernel.py", Options())
    assert done.text is None or "grid" in done.text  # not all of C, whatever the launch


@pytest.mark.parametrize("guard", ["i < n", "i < n * m", "8 * m > i"])
def test_multiples_are_demanded(guard):
    text = BLOCK.replace("GUARD", guard).replace("int n)", "int n, int m)")
    mirror, emitted = function(text, "kernel.cu", "mirror")
    x = np.arange(16, dtype=np.float32)
    n, m = {"i < n": (16, 0), "i < n * m": (4, 4), "8 * m > i": (0, 2)}[guard]
    np.testing.assert_array_equal(mirror(x, np.zeros(16, np.float32), n, m), x.reshape(2, 8)[:, ::-1].ravel())
    assert ("must be a multiple of 8" in emitted) == (guard != "8 * m > i")


@pytest.mark.parametrize("guard", ["i < n - 1", "threadIdx.x < n", "x[i] > 0.0f", "i != n", "i * i < n"])
def test_what_no_multiple_makes_uniform_is_refused(guard):
    assert codes(BLOCK.replace("GUARD", guard)) == {"KR206"}


def test_the_barrier_left_out_is_refused():
    assert codes(PRODUCT.replace("            __syncthreads();\n            for", "            for")) & {"KR201"}
    assert codes(BLOCK.replace("GUARD", "i < n").replace("        __syncthreads();\n", "")) == {"KR201"}


COUNTS = """
__global__ void letters(const unsigned char *data, int n, unsigned int *h) {
    __shared__ unsigned int s[8];
    for (unsigned int b = threadIdx.x; b < 8; b += blockDim.x) s[b] = 0u;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&s[data[i] >> 5], 1);
    __syncthreads();
    for (unsigned int b = threadIdx.x; b < 8; b += blockDim.x) {
        TYPE v = s[b];
        if (v > 0) atomicAdd(&h[WHERE], v);
    }
}
"""


def test_a_guard_that_spares_empty_bins():
    letters, text = function(COUNTS.replace("TYPE", "unsigned int").replace("WHERE", "b"), "kernel.cu", "letters")
    data = np.random.default_rng(3).integers(0, 256, 50).astype(np.uint8)
    got = letters(data, 50, np.zeros(8, np.uint32))
    np.testing.assert_array_equal(got, np.bincount(data >> 5, minlength=8))
    assert "grid" not in text and "sum" not in text


def test_a_guard_that_may_keep_a_subscript_inside_stays():
    other = function(COUNTS.replace("TYPE", "unsigned int").replace("WHERE", "8 / v"), "kernel.cu", "letters")[1]
    assert "grid" in other
