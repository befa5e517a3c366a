"""Tiles of which the last one is shorter: ``for k in range(min(128, n - base))``, and what is no such tile."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

PRODUCT = """
__global__ void f(const float *A, const float *x, float *y, int m, int n) {{
    __shared__ float xs[16];
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int base = 0; base < n; base += 16) {{
        int len = min(16, n - base);
        for (int k = threadIdx.x; k < len; k += blockDim.x) xs[k] = x[base + k];
        __syncthreads();
        if (r < m) for (int k = 0; {}; ++k) sum += A[r * n + base + k] * xs[k];
        __syncthreads();
    }}
    if (r < m) y[r] = sum;
}}
"""


@pytest.mark.parametrize("rounds", ["k < len", "k < 16 && base + k < n"])
def test_a_product_by_tiles_of_the_vector(rounds):
    text = pipeline.translate(PRODUCT.format(rounds), "k.cu").text
    assert "A2 @ x[:n]" in text and "where" not in text
    rng = np.random.default_rng(0)
    a, x = rng.standard_normal((5, 37), np.float32), rng.standard_normal(37, np.float32)
    np.testing.assert_allclose(load_module(text).f(a.ravel(), x, np.zeros(5, np.float32), 5, 37), a @ x, rtol=1e-4)


def test_tiles_of_which_a_cell_is_left_out():
    text = pipeline.translate(PRODUCT.format("k < len - 1"), "k.cu").text
    assert text is None or "A2 @ x" not in text


MATRICES = """
__global__ void f(const float *A, const float *B, float *C, int n, int m, int k) {{
    __shared__ float a[4][4], b[4][4];
    int x = threadIdx.x, y = threadIdx.y, c = blockIdx.x * 4 + x, r = blockIdx.y * 4 + y;
    float s = 0;
    for (int t = 0; t < k; t += 4) {{
        a[y][x] = r < n{} ? A[r * k + t + x] : 0;
        b[y][x] = c < m{} ? B[(t + y) * m + c] : 0;
        __syncthreads();
        for (int q = 0; q < 4; q++) s += a[y][q] * b[q][x];
        __syncthreads();
    }}
    if (r < n && c < m) C[r * m + c] = s;
}}
"""


def test_tiles_that_guards_end_need_not_fill_the_row():
    text = pipeline.translate(MATRICES.format(" && t + x < k", " && t + y < k"), "k.cu").text
    assert "A2 @ B2" in text and "multiple" not in text
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((3, 5), np.float32), rng.standard_normal((5, 2), np.float32)
    got = load_module(text).f(a.ravel(), b.ravel(), np.zeros(6, np.float32), 3, 2, 5)
    np.testing.assert_allclose(got.reshape(3, 2), a @ b, rtol=1e-4)


def test_tiles_that_no_guard_ends_fill_the_row():
    text = pipeline.translate(MATRICES.format("", ""), "k.cu").text
    with pytest.raises(ValueError, match="k must be a multiple of 4"):
        load_module(text).f(np.zeros(15, np.float32), np.zeros(10, np.float32), np.zeros(6, np.float32), 3, 2, 5)


def test_rows_that_a_loop_loads_end_where_the_source_does():
    """The lanes of the last block that have no row load none: the array may end before it."""
    done = pipeline.translate(
        """
__global__ void f(int n, float *out, const float *z) {
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    __shared__ float tile[4];
    int lane = threadIdx.x;
    tile[lane] = i < n ? out[i] : 0.0f;
    __syncthreads();
    float t = tile[(lane + 1) % 4];
    if (i < n) {
        float a = out[i];
        for (int k = 0; k < n - 1; k++) a = z[i * n + k] - a * t;
        out[i] = a;
    }
}
""",
        "case.cu",
    )
    assert done.text is not None and "z[: n * n].reshape(n, n)" in done.text
    agrees(done, pipeline.Request())
