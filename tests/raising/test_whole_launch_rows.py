"""Rows as long as the launch: ``x + y * blockDim.x * gridDim.x``, the flat index of many textbooks."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.compare import verify

KERNEL = """__global__ void f(float *o, const float *c, float w) {
  int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
"""
ROWS = {
    "the launch's width": "int at = x + y * blockDim.x * gridDim.x; o[at] = w * c[at];",
    "the other order": "int at = y * gridDim.x * blockDim.x + x; o[at] = x + w * y;",
    "under its own name": "int pitch = blockDim.x * gridDim.x; int at = x + y * pitch; if (c[at] > 0) o[at] = c[at];",
    "neighbours": "int n = blockDim.x * gridDim.x, at = x + y * n;"
    " o[at] = c[at] + w * (c[x == 0 ? at : at - 1] - c[x == n - 1 ? at : at + 1]);",
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_as_long_as_the_launch(name):
    done = pipeline.translate(KERNEL + ROWS[name] + "\n}\n", "a.cu")
    assert done.raised == ("f",), done.diagnostics
    rng = np.random.default_rng(0)
    arrays = {n: rng.uniform(-1, 1, 6 * 8).astype(np.float32) for n in "oc"}
    for grid, block in (((2, 3), (4, 2)), ((4, 2), (2, 3))):
        case = Case("f", {**arrays, "w": np.float32(0.5)}, grid, block)
        report = verify(done.source, done.text, "f", case)
        assert report.ok, [(r.check, r.message) for r in report.failures]


@pytest.mark.parametrize("row", ("blockDim.x", "gridDim.x", "(blockDim.x * gridDim.x - 1)", "blockDim.y * gridDim.x"))
def test_rows_that_overlap_are_refused(row):
    done = pipeline.translate(KERNEL + f"int at = x + y * {row}; o[at] = w * c[at] + y;\n}}\n", "a.cu")
    assert not done.raised and {d.code for d in done.diagnostics if d.severity == "error"} == {"KR201"}
