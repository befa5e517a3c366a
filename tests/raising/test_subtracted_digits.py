"""A flat index taken apart by subtracting the digits that are known: what is left is a whole number of rows."""

import pytest

from kraise import pipeline
from tests.checks import agrees

STRIDE = "for (int at = blockIdx.x * blockDim.x + threadIdx.x; at < sheets * rows * cols; at += blockDim.x * gridDim.x)"
GUARD = "int at = blockIdx.x * blockDim.x + threadIdx.x; if (at < sheets * rows * cols)"
KERNEL = """
__global__ void k(const float* x, const float* w, float* y, int sheets, int rows, int cols) {
    HEAD {
        int c = at % cols;
        int r = (at - c) / cols % rows;
        int s = (at - REST) / (rows * cols);
        y[STORE] = c > r ? w[s] : x[at] * x[at];
    }
}"""
CASES = [(2, 3, 4), (1, 5, 2), (3, 1, 1), (0, 2, 3), (2, 0, 3)]


def _translated(head, rest="cols * r - c", store="(s * rows + r) * cols + c"):
    source = KERNEL.replace("HEAD", head).replace("REST", rest).replace("STORE", store)
    return pipeline.translate(source, "k.cu")


@pytest.mark.parametrize("head", (STRIDE, GUARD))
def test_what_is_left_is_rows(head):
    done = _translated(head)
    assert done.text and not done.diagnostics, [d.reason for d in done.diagnostics]
    assert ".reshape(sheets, rows, cols)" in done.text and "//" not in done.text
    for sheets, rows, cols in CASES:
        size = sheets * rows * cols
        shapes = {"x": (size + 1,), "w": (sheets + 1,), "y": (size + 2,)}
        values = {"sheets": sheets, "rows": rows, "cols": cols}
        agrees(done, pipeline.Request(shapes=shapes, values=values, grid=(4,), block=(16,)))


@pytest.mark.parametrize(
    ("rest", "store"),
    [
        ("cols * r - c", "(s * rows + r) * cols"),  # each column of a row
        ("cols * r - c", "(s + r) * cols + c"),
        ("cols * r * 2 - c", "(s * rows + r) * cols + c"),  # no whole number of sheets is left
    ],
)
def test_places_that_meet_are_refused(rest, store):
    done = _translated(STRIDE, rest, store)
    assert not done.text and {d.code for d in done.diagnostics} <= {"KR201", "KR202"}, done.text
