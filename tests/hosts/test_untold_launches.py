"""Launches of as many blocks as a device is asked for, of kernels that count on nothing but their blocks' size."""

import numpy as np
import pytest

from kraise import pipeline
from tests.hosts.test_hosts import array, codes

KERNELS = """
__global__ void total(float *z, const float *x, int n) {
    float s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += x[i];
    for (int d = 16; d; d /= 2) s += __shfl_down_sync(-1, s, d);
    if (threadIdx.x % 32 == 0) atomicAdd(z, s);
}
__global__ void twice(float *z, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) z[i] += x[i];
}
__global__ void each(float *z, const float *x, int n) {
    if (threadIdx.x < n) z[threadIdx.x] += x[threadIdx.x];
}
void f(float *z, const float *x, int n, int b) {
    int many;
    cudaDeviceGetAttribute(&many, cudaDevAttrMultiProcessorCount, 0);
    int blocks = min(32 * many, (n + b - 1) / b);
    KERNEL<<<GRID, BLOCK>>>(z, x, n);
}
"""


def done(kernel, grid, block):
    text = KERNELS.replace("KERNEL", kernel).replace("GRID", grid).replace("BLOCK", block)
    return pipeline.translate(text, "a.cu")


def test_a_sum_over_warps():
    """It was refused: the number of blocks has no value."""
    found = done("total", "blocks", "b")
    assert not codes(found), codes(found)
    namespace: dict = {}
    exec(compile(found.text, "a.py", "exec"), namespace)
    np.testing.assert_allclose(namespace["f"](np.zeros(1, "f4"), array(5), 5, 64)[0], array(5).sum(), rtol=1e-6)
    with pytest.raises(ValueError, match="multiple of 32"):
        namespace["f"](np.zeros(1, "f4"), array(5), 5, 33)


@pytest.mark.parametrize(("kernel", "grid", "block"), (("total", "4", "many"), ("each", "blocks", "64")))
def test_what_the_number_matters_to_is_refused(kernel, grid, block):
    """A block of an untold size; blocks that would add again."""
    assert codes(done(kernel, grid, block))
