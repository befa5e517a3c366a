"""How many threads a tile of a cooperative group has, however it is spelled."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

HEAD = """
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define M 8
constexpr int T = 8;
constexpr int WARP = 32;
"""
BODY = """
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  float t = cg::reduce(tile, v, cg::plus<float>());
  if (i < n) y[i] = t;
}
"""
TILES = {
    "a number": "auto tile = cg::tiled_partition<8>(cg::this_thread_block());",
    "a macro": "auto tile = cg::tiled_partition<M>(cg::this_thread_block());",
    "a constant": "auto tile = cg::tiled_partition<T>(cg::this_thread_block());",
    "a quotient": "auto tile = cg::tiled_partition<WARP / 4>(cg::this_thread_block());",
    "a declared tile": "cg::thread_block_tile<T> tile = cg::tiled_partition<T>(cg::this_thread_block());",
    "an argument": "auto tile = cg::tiled_partition(cg::this_thread_block(), T);",
    "of a warp": (
        "auto warp = cg::tiled_partition<32>(cg::this_thread_block()); auto tile = cg::tiled_partition<8>(warp);"
    ),
}


def sums(text: str, size: int) -> None:
    x = np.arange(70, dtype=np.float32)
    padded = np.pad(x, (0, -70 % size)).reshape(-1, size)
    found = load_module(text).f(x, np.zeros(70, np.float32), 70)
    np.testing.assert_array_equal(found, np.repeat(padded.sum(1), size)[:70])


@pytest.mark.parametrize("name", TILES)
def test_sizes(name):
    source = HEAD + "__global__ void f(const float *x, float *y, int n) {" + TILES[name] + BODY
    result = pipeline.translate(source, "k.cu")
    assert not result.diagnostics, result.diagnostics
    sums(result.text, 8)


def test_of_a_template():
    source = (
        HEAD + "template <int W> __global__ void f(const float *x, float *y, int n) {"
        "auto tile = cg::tiled_partition<W>(cg::this_thread_block());" + BODY
    )
    result = pipeline.translate(source + "template __global__ void f<16>(const float *, float *, int);", "k.cu")
    assert not result.diagnostics, result.diagnostics
    sums(result.text, 16)


@pytest.mark.parametrize("size", ("256", "n", "12"))
def test_other_sizes_are_refused(size):
    tile = f"auto tile = cg::tiled_partition(cg::this_thread_block(), {size});"
    result = pipeline.translate(HEAD + "__global__ void f(const float *x, float *y, int n) {" + tile + BODY, "k.cu")
    assert [d.code for d in result.diagnostics] == ["KR299"]


HELPERS = {
    "of a tile's type": (
        "template <int W> __device__ float all(const cg::thread_block_tile<W> &g, float v) {"
        " for (int o = g.size() / 2; o > 0; o /= 2) v += g.shfl_xor(v, o); return v; }",
        "all(cg::tiled_partition<8>(cg::this_thread_block()), v)",
    ),
    "as an argument": (
        "__device__ float all(float v, int w) {"
        " for (int o = w / 2; o > 0; o /= 2) v += __shfl_xor_sync(~0u, v, o, w); return v; }",
        "all(v, 8)",
    ),
    "of a helper's helper": (
        "__device__ float one(float v, int o, int w) { return v + __shfl_xor_sync(~0u, v, o, w); }"
        "__device__ float all(float v, int w) { for (int o = w / 2; o > 0; o /= 2) v = one(v, o, w); return v; }",
        "all(v, 8)",
    ),
}


@pytest.mark.parametrize("name", HELPERS)
def test_of_a_helper(name):
    helper, call = HELPERS[name]
    body = BODY.replace("cg::reduce(tile, v, cg::plus<float>())", call)
    result = pipeline.translate(HEAD + helper + "__global__ void f(const float *x, float *y, int n) {" + body, "k.cu")
    assert not result.diagnostics, result.diagnostics
    sums(result.text, 8)


def test_a_width_that_is_no_constant():
    helper, _ = HELPERS["of a helper's helper"]
    body = BODY.replace("cg::reduce(tile, v, cg::plus<float>())", "all(v, n)")
    result = pipeline.translate(HEAD + helper + "__global__ void f(const float *x, float *y, int n) {" + body, "k.cu")
    assert [d.reason for d in result.diagnostics] == ["the width of a shuffle is not a constant"]
