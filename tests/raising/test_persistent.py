"""Blocks that take one row after another, with barriers: a block for each row, however many blocks are launched."""

import numpy as np
import pytest

from kraise import pipeline
from tests.checks import agrees

KERNEL = """
#define B 64
__global__ void f(const float *x, float *y, int rows, int n) {{
  __shared__ float s[B];
  int t = threadIdx.x;
  {before}
  for (int row = blockIdx.x; row < rows; row += {step}) {{
    {body}
  }}
}}
"""
SUM = """s[t] = t < n ? x[row * n + t] : 0.0f;
    __syncthreads();
    for (int o = B / 2; o > 0; o /= 2) { if (t < o) s[t] += s[t + o]; __syncthreads(); }
    if (t == 0) y[row] = s[0];"""
TURNED = "s[t] = x[row * blockDim.x + t]; __syncthreads(); y[row * blockDim.x + t] = s[blockDim.x - 1 - t];"
END = " __syncthreads();"


def _translated(body, before="", step="gridDim.x"):
    return pipeline.translate(KERNEL.format(body=body, before=before, step=step), "f.cu")


@pytest.mark.parametrize("body", [SUM + END, "__syncthreads(); " + SUM])
def test_a_block_for_each_row(body):
    done = _translated(body)
    assert done.text and not done.diagnostics and "sum(" in done.text and "grid" not in done.text, done
    for grid in (1, 2, 7):
        shapes, values = {"x": (60,), "y": (5,)}, {"rows": 5, "n": 12}
        request = pipeline.Request(shapes=shapes, values=values, grid=grid, block=64, gradients=grid == 2)
        agrees(done, request)


def test_rows_beyond_the_launch_are_done_too():
    done = _translated(TURNED + END)
    assert done.text and not done.diagnostics, done
    space: dict = {}
    exec(done.text, space)  # noqa: S102
    x = np.arange(20, dtype=np.float32)
    got = space["f"](x, np.zeros_like(x), 5, 4, grid=2, block=4)
    np.testing.assert_array_equal(np.asarray(got), x.reshape(5, 4)[:, ::-1].ravel())


def test_a_tree_needs_no_barrier_before_the_next_round():
    done = _translated(SUM)  # its result is the first thread's own, and the rest is behind the tree's last barrier
    assert done.text and not done.diagnostics, done
    for grid in (1, 2, 7):
        shapes, values = {"x": (60,), "y": (5,)}, {"rows": 5, "n": 12}
        agrees(done, pipeline.Request(shapes=shapes, values=values, grid=grid, block=64, gradients=False))


@pytest.mark.parametrize(
    ("body", "before", "step"),
    [
        (TURNED, "", "gridDim.x"),  # no barrier before the next round
        (SUM.replace("s[t] = t", "s[t] += t") + END, "s[t] = 0; __syncthreads();", "gridDim.x"),  # adds up
        (SUM + END, "", "gridDim.x - 1"),  # rows are done twice
        (SUM + " if (s[0] > 9.0f) break;" + END, "", "gridDim.x"),
    ],
)
def test_rounds_that_are_no_rows(body, before, step):
    done = _translated(body, before, step)
    assert done.diagnostics and not done.text, done.text
