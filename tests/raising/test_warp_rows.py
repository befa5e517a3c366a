"""A warp for each row: lanes in steps of 32 over a row are the row, also where its bounds are loaded."""

import pytest

from kraise import pipeline
from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological
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
