"""A warp for each row: lanes in steps of 32 over a row are the row, also where its bounds are loaded."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
from tests.hostile.judge import judge
from tests.raising.test_warps import raised, refusal, sums

SPMV = """
    int row = {row};
    if (row < n) {{
        float s = 0.0f;
        for (int k = ptr[row] + {start}; k < ptr[row + 1]; k += {step}) s += x[k];
        for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(~0u, s, d);
        if (lane == 0) y[row] = s;
    }}
"""
LANES = {"row": "i / 32", "start": "lane", "step": "32"}
PARAMETERS = "const int *ptr, const float *x, float *y, int n"


@pytest.mark.parametrize("row", ["i / 32", "i >> 5", "blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5)"])
def test_the_entries_of_a_row_by_warp_are_segments(row):
    kernel = raised(SPMV.format(**LANES | {"row": row}), PARAMETERS)
    assert not any(isinstance(s, eq.Fold) for s in kernel.body)
    assert any(isinstance(s, eq.Write) and s.segments for s in kernel.body)


@pytest.mark.parametrize("change", [{"start": "2 * lane"}, {"step": "31"}, {"step": "64"}])
def test_lanes_that_leave_out_entries_are_not_the_row(change):
    kernel = raised(SPMV.format(**LANES | change), PARAMETERS)
    whole = [s for s in kernel.body if isinstance(s, eq.Write) and s.segments and s.where is not None]
    lanes = [n for s in kernel.body for n in topological(statement_expressions(s)) if isinstance(n, eq.Index)]
    assert any(isinstance(s, eq.Fold) for s in kernel.body) or (whole and any("lane" in n.name for n in lanes))


def test_lanes_from_a_later_entry_on_are_the_row_from_there():
    kernel = raised(SPMV.format(**LANES | {"start": "lane + 3"}), PARAMETERS)
    assert kernel.equations == (
        "y[row] = sum_(k where k - ptr[row] - 3 >= 0 and k < ptr[row + 1]) x[k]  for 0 <= row < n",
    )


def test_rows_of_any_length_and_their_elements():
    kernel = raised(
        """
        int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        if (row >= n) return;
        float s = 0.0f;
        for (int c = lane; c < m; c += 32) s += x[row * m + c];
        for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
        for (int c = lane; c < m; c += 32) y[row * m + c] = x[row * m + c] - s;
        """,
        "const float *x, float *y, int n, int m",
    )
    assert set(sums(kernel)) == {"add"} and not kernel.launch and not kernel.checks


def test_the_elements_of_a_row_by_the_one_warp_of_a_row_of_the_block():
    source = """
__global__ void f(const float *x, float *y, int n, int m) {
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= n) return;
    float s = 0.0f;
    for (int c = lane; c < m; c += 32) s += x[row * m + c];
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    for (int c = lane; c < m; c += 32) y[row * m + c] = x[row * m + c] - s;
}
"""
    text = pipeline.translate(source, "k.cu").text
    assert "y2 = x2 - x2.sum(axis=1, keepdims=True)" in text and "where" not in text


def test_rows_that_overlap_are_refused():
    body = """
        int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
        if (row >= n) return;
        for (int c = lane; c < m + 1; c += 32) y[row * m + c] = x[c] + row;
    """
    assert "KR201" in refusal(body, parameters="const float *x, float *y, int n, int m")


EVERY = """
__global__ void f(const float *x, float *y, int n, int m) {
    __shared__ float part[32];
    int lane = LANE, w = threadIdx.x / 32;
    for (int r = FIRST; r < n; r += STEP) {
        float s = 0.0f;
        for (int c = lane; c < m; c += 32) s += x[r * m + c];
        for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
        BODY
    }
}
"""
WARPS = ("(blockIdx.x * blockDim.x + threadIdx.x) >> 5", "(gridDim.x * blockDim.x) >> 5")
WRITTEN = "for (int c = lane; c < m; c += 32) y[r * m + c] = x[r * m + c] - s;"
ROWS = [
    WARPS,
    ("blockIdx.x * (blockDim.x / 32) + w", "gridDim.x * (blockDim.x / 32)"),
    ("w * gridDim.x + blockIdx.x", "gridDim.x * blockDim.x / warpSize"),
    ("blockIdx.x * blockDim.y + threadIdx.y", "blockDim.y * gridDim.x"),
]


def every(first, step, body):
    source = EVERY.replace("FIRST", first).replace("STEP", step).replace("BODY", body)
    lane = "threadIdx.x" if "threadIdx.y" in first else "threadIdx.x % 32"
    return pipeline.translate(source.replace("LANE", lane), "k.cu")


@pytest.mark.parametrize("rows", ROWS)
def test_warps_that_take_one_row_after_another(rows):
    done = every(*rows, WRITTEN)
    assert "y2 = x2 - x2.sum(axis=1, keepdims=True)" in done.text and "grid" not in done.text
    assert "m must" not in done.text  # rows of any length
    found: dict = {}
    exec(done.text, found)
    x = np.arange(10, dtype=np.float32)
    wanted = (x.reshape(2, 5) - x.reshape(2, 5).sum(axis=1, keepdims=True)).ravel()
    np.testing.assert_array_equal(found["f"](x, np.zeros(10, np.float32), 2, 5), wanted)


@pytest.mark.parametrize(
    ("rows", "body"),
    [
        ((WARPS[0], "gridDim.x * blockDim.x / 64"), "if (lane == 0) y[r] += s;"),  # a row twice
        (WARPS, "if (lane == 0) y[0] = s;"),
        (WARPS, "if (lane == 0) part[w] = s; __syncthreads(); if (lane == 0) y[r] = part[0];"),
    ],
)
def test_warps_that_meet_or_part_in_their_rounds_are_refused(rows, body):
    done = every(*rows, body)
    assert done.text is None and {d.code for d in done.diagnostics} <= {"KR201", "KR206"}


STAGED = """__global__ void k(const float *x, float *y, int n, int m) {{
  __shared__ float s[2][32];
  int lane = threadIdx.x % 32, w = threadIdx.x / 32;
  for (int r = blockIdx.x * 2 + w; r < n; r += gridDim.x * 2) {{
    float v = 0.f;
    for (int c = lane; c < m; c += 32) v += x[r * m + c];
    s[{row}][lane] = v;
    {wait}
    for (int d = 16; d > 0; d /= 2) {{ if (lane < d) s[w][lane] += s[w][lane + d]; __syncwarp(); }}
    if (lane == 0) y[r] = s[w][0];
    __syncwarp();
  }}
}}"""


@pytest.mark.parametrize(
    ("row", "wait", "expected"),
    [("w", "__syncwarp();", "right"), ("w", "", "refused"), ("1 - w", "__syncwarp();", "refused")],
)
def test_a_row_of_shared_memory_for_each_warp(row, wait, expected):
    """Two rows: blocks of 64 threads, not of the two that ``blockIdx.x * 2`` would be."""
    source = STAGED.format(row=row, wait=wait)
    found = judge(source, "cu", "x=f[165] y=f[5] n=5 m=33", [((2,), (64,)), ((1,), (64,))])
    assert found.startswith(expected)
