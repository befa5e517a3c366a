"""Rows as long as the launch: ``x + y * blockDim.x * gridDim.x``, the flat index of many textbooks."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.cases import Case
from kraise.verify.compare import verify
from kraise.verify.load import load_module

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


BLOCKS = {
    "a block for each row": "int at = blockIdx.x * n + threadIdx.x; o[at] = w * c[at];",
    "added to": "o[blockIdx.x * n + threadIdx.x] += w * c[threadIdx.x];",
    "rows with a border": "o[(n + 1) * blockIdx.x + threadIdx.x + 1] += w * c[threadIdx.x + 1];",
    "planes of rows": "o[(blockIdx.y * gridDim.x + blockIdx.x) * n + threadIdx.x] += w * c[threadIdx.x];",
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_as_wide_as_the_rows_that_it_stores(name):
    source = f"__global__ void f(float *o, const float *c, float w, int n) {{ {BLOCKS[name]} }}\n"
    done = pipeline.translate(source, "a.cu")
    assert done.raised == ("f",), done.diagnostics
    assert "a block has n threads along x" in done.text
    rng = np.random.default_rng(0)
    arrays = {a: rng.uniform(-1, 1, 30).astype(np.float32) for a in "oc"}
    report = verify(done.source, done.text, "f", Case("f", {**arrays, "w": np.float32(0.5), "n": 4}, (3,), (4,)))
    assert report.ok, [(r.check, r.message) for r in report.failures]
    with pytest.raises(ValueError, match="a block has n threads along x"):
        load_module(done.text).f(arrays["o"], arrays["c"], 0.5, 4, grid=3, block=3)


@pytest.mark.parametrize("store", ("o[blockIdx.x * n + threadIdx.x] = o[blockIdx.x * n + threadIdx.x + 1];",
                                   "o[blockIdx.x * n + 2 * threadIdx.x] += c[blockIdx.x] + threadIdx.x;",
                                   "o[blockIdx.x * n + threadIdx.x * n] += c[threadIdx.x];"))  # fmt: skip
def test_rows_that_blocks_would_share_are_refused(store):
    done = pipeline.translate(f"__global__ void f(float *o, const float *c, int n) {{ {store} }}\n", "a.cu")
    assert not done.raised and {d.code for d in done.diagnostics if d.severity == "error"} == {"KR201"}
