"""Tiles of which the last one is shorter: ``for k in range(min(128, n - base))``, and what is no such tile."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

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
