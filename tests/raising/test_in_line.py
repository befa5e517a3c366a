"""Blocks in rows of a grid whose threads lie in one line: they share memory."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

LINE = """
__global__ void f(const float *x, float *out, int n) {
    __shared__ float s[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    s[threadIdx.x] = i < n && j < n ? fabsf(x[j * n + i]) : 0.0f;
    __syncthreads();
    for (int k = 4; k > 0; k /= 2) {
        if (threadIdx.x < k) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]);
        BARRIER
    }
    if (threadIdx.x == 0) STORE;
}
"""
STORES = ("atomicMax((int *)out, __float_as_int(s[0]))", "atomicAdd(out, s[0])")


@pytest.mark.parametrize("store", STORES)
def test_a_block_has_one_thread_along_an_axis_of_blocks(store):
    """Two threads along y would do the rounds of the tree at once. (The search for such blocks did not end.)"""
    done = pipeline.translate(LINE.replace("STORE", store).replace("BARRIER", "__syncthreads();"), "k.cu")
    assert done.text is not None and "a block has one thread along y" in done.text, done.diagnostics
    case = {"shapes": {"x": (25,), "out": (1,)}, "values": {"n": 5}}
    agrees(done, pipeline.Request(**case, grid=(1, 5), block=(8,)), store)
    if "grid" not in done.text:
        return  # the guard bounds the threads, and no launch is given
    with pytest.raises(ValueError, match="one thread along y"):
        load_module(done.text).f(np.ones(25, "f"), np.zeros(1, "f"), 5, grid=(1, 5), block=(8, 2))


@pytest.mark.parametrize("store", STORES)
def test_a_tree_without_its_barrier_is_a_race_of_one_line_too(store):
    done = pipeline.translate(LINE.replace("STORE", store).replace("BARRIER", ""), "k.cu")
    assert done.text is None
