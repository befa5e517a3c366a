"""Cells of a lane of the next warp, where threads are warps and lanes: who stored there is the thread of that number.

A cell ``s[t + 1]`` of lane 31 was taken to be what lane 32 of the same warp stores, which is no lane.
"""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = (
    "__global__ void f(const float *x, float *y) { __shared__ float s[128]; "
    "int t = threadIdx.x, i = blockIdx.x * 128 + t; "
)
SUM = (
    "for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o); "
    "if ((t & 31) == 0) y[blockIdx.x * 4 + t / 32] = v; }"
)
PAIR = "v += __shfl_xor_sync(~0u, v, 1); y[i] = v; }"
STORED = {  # what a thread stores, by its lane or its warp
    "a value by the lane": "s[t] = x[i] * (t & 31); ",
    "a value by the warp": "s[t] = x[i] + t / 32; ",
    "a condition on the lane": "if ((t & 31) < 31) s[t] = x[i]; else s[t] = 0.0f; ",
    "the number alone": "s[t] = x[i] * t; ",
}
FIRST = "s[t] = 0.0f; __syncthreads(); if ((t & 31) {}) s[t] = x[i]; "  # by a lane that a load of another asks for
LOADED = {
    "of the thread after": "float v = t < 127 ? s[t + 1] : 0.0f; ",
    "of the thread before": "float v = t > 0 ? s[t - 1] : 0.0f; ",
    "of one of another warp": "float v = t < 91 ? s[t + 37] : 0.0f; ",
}


@pytest.mark.parametrize(
    ("store", "load", "end"),
    [
        ("a value by the lane", "of the thread after", SUM),
        ("a value by the warp", "of the thread before", SUM),
        ("a condition on the lane", "of the thread after", PAIR),
        ("a value by the lane", "of one of another warp", PAIR),
        ("the number alone", "of the thread after", SUM),
    ],
)
def test_a_cell_of_another_warp(store, load, end):
    done = pipeline.translate(HEAD + STORED[store] + "__syncthreads(); " + LOADED[load] + end, "f.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    shapes = {"x": (256,), "y": (256 if end is PAIR else 8,)}
    agrees(done, pipeline.Request(shapes=shapes, grid=(2,), block=(128,), gradients=True))
    racy = pipeline.translate(HEAD + STORED[store] + LOADED[load] + end, "f.cu")
    assert racy.text is None


@pytest.mark.parametrize("lane", ["== 0", "== 5", "< 3"])
def test_a_cell_that_one_lane_of_each_warp_stores(lane):
    """The warp was chosen before the condition on the lane was asked: that of the loading thread."""
    source = HEAD + FIRST.format(lane) + "__syncthreads(); " + LOADED["of the thread after"] + SUM
    done = pipeline.translate(source, "f.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(shapes={"x": (256,), "y": (8,)}, grid=(2,), block=(128,), gradients=False))


@pytest.mark.parametrize("far", [30, 31])
def test_the_steps_of_a_tree_within_a_warp(far):
    """With 31 the second of two threads takes a cell of the second warp, to which the step before did not add."""
    body = (
        "s[t] = x[i]; __syncthreads(); if (t < 64) s[t] += s[t + 64]; __syncthreads(); "
        "if (t < 32) { s[t] += s[t + 32]; __syncwarp(); } "
        f"if (t < 2) s[t] += s[t + {far}]; __syncwarp(); if (t == 0) y[blockIdx.x] = s[0] + s[1]; }}"
    )
    done = pipeline.translate(HEAD + body, "f.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(shapes={"x": (256,), "y": (2,)}, grid=(2,), block=(128,), gradients=True))
    without = pipeline.translate(HEAD + body.replace("s[t + 64]; __syncthreads();", "s[t + 64];"), "f.cu")
    assert without.text is None
