"""Rows between row pointers that the threads of a block go through together: segments, not loops to the longest row."""

import numpy as np
import pytest

from kraise import pipeline

HEAD = "__global__ void f(const int *ptr, const float *x, float *y, int rows) { int row = blockIdx.x, t = threadIdx.x; "
TREE = (
    "__syncthreads(); for (int o = blockDim.x / 2; o > 0; o >>= 1) { if (t < o) sh[t] = %s; __syncthreads(); } "
    "if (t == 0) y[row] = sh[0]; }"
)
LOOP = "for (int k = ptr[row] + t; k < ptr[row + 1]; k += blockDim.x) "
ROWS = {
    "sum": "__shared__ float sh[64]; float s = 0; "
    + LOOP
    + "s += x[k] * x[k]; sh[t] = s; "
    + TREE % "sh[t] + sh[t + o]",
    "largest": "__shared__ float sh[64]; float s = -9; "
    + LOOP
    + "s = fmaxf(s, x[k]); sh[t] = s; "
    + TREE % "fmaxf(sh[t], sh[t + o])",
    "by atomics": "if (row >= rows) return; float s = 0; " + LOOP + "s += x[k]; atomicAdd(&y[row], s); }",
    "stored": "if (row < rows) " + LOOP + "y[k] = x[k] * row; }",
}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_a_segment(name):
    done = pipeline.translate(HEAD + ROWS[name], "f.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    assert "while" not in done.text and "fori_loop" not in done.text
    ptr = np.array([0, 3, 3, 7, 12], np.int32)
    space: dict = {}
    exec(done.text, space)  # noqa: S102
    x = np.linspace(-1, 2, 12).astype(np.float32)
    y = np.zeros(12 if name == "stored" else 4, np.float32)
    launch = {"grid": 4, "block": 4} if "grid" in done.text else {}
    got = np.asarray(space["f"](ptr, x, y, 4, **launch))
    parts = [x[a:b] for a, b in zip(ptr, ptr[1:], strict=False)]
    wanted = {
        "sum": [float((p * p).sum()) for p in parts],
        "largest": [float(p.max(initial=-9)) for p in parts],
        "by atomics": [float(p.sum()) for p in parts],
        "stored": np.concatenate([p * r for r, p in enumerate(parts)]),
    }[name]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "body",
    [
        LOOP.replace("+ t", "+ 2 * t") + "y[k] = x[k] * t; }",  # threads overlap
        LOOP.replace("blockDim.x", "32") + "y[k] = x[k] * t; }",  # in steps of another number
        LOOP.replace("ptr[row + 1]", "ptr[row + 2]") + "y[k] = x[k] * row; }",  # rows overlap
    ],
)
def test_rows_that_are_no_segments(body):
    done = pipeline.translate(HEAD + body, "f.cu")
    assert done.diagnostics and not done.text, done.text


LANES = """
__global__ void f(const int *ptr, const float *x, float *y, int rows) {
  int t = blockIdx.x * blockDim.x + threadIdx.x, row = t / 32, lane = t % 32;
  if (row >= rows) return;
  float s = 0;
  for (int k = ptr[row] + lane; k < ptr[row + 1]; k += 32) s += x[k];
  atomicAdd(&y[row], s);
}
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", ""),
        ("t / 32, lane = t % 32", "t >> 5, lane = t & 31"),
        ("k += 32", "k += 16"),  # each entry twice
        ("ptr[row] + lane", "ptr[row] + 2 * lane"),
        ("t % 32", "t % 16"),
    ],
)
def test_lanes_that_add_by_themselves(old, new):
    """A warp a row without an exchange: where each entry is one lane's, the row is a segment; else a loop stays."""
    done = pipeline.translate(LANES.replace(old, new), "f.cu")
    assert done.text, done.diagnostics
    whole = not old or "5" in new
    assert ("segment_sum" in done.text) == whole and ("while_loop" in done.text) != whole, done.text
    space: dict = {}
    exec(done.text, space)  # noqa: S102
    ptr, x = np.array([0, 3, 3, 45, 50], np.int32), np.linspace(-1, 2, 50).astype(np.float32)
    step, far = 16 if "+= 16" in new else 32, 2 if "2 *" in new else 1
    lanes = [lane % (16 if "% 16" in new else 32) * far for lane in range(32)]
    rows = [sum(x[k] for lane in lanes for k in range(a + lane, b, step)) for a, b in zip(ptr, ptr[1:], strict=False)]
    np.testing.assert_allclose(space["f"](ptr, x, np.ones(4, np.float32), 4), 1 + np.array(rows), rtol=1e-4, atol=1e-5)
