"""Rows of their own lengths in tables of one width; what only looks like it."""

import jax.numpy as jnp
import pytest
from jax.experimental import checkify

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import verified

KERNEL = """__global__ void k(const int *len, const float *x, float *y, int rows, int width) {{
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows) {{ float s = 0.0f; for (int c = {0}; c < len[r]; c++) s += {1}; y[r] = s; }} }}"""
ROWS = {
    "by rows": ("0", "x[r * width + c]", "len[r] <= width for all r"),
    "by columns": ("0", "x[c * rows + r]", "len[r] <= x.shape[0] // rows for all r"),
    "from the second on": ("1", "x[c + r * width]", "len[r] <= width for all r"),
}


@pytest.mark.parametrize("name", ROWS)
def test_the_width_bounds_the_rows(name):
    start, cell, assumed = ROWS[name]
    source = KERNEL.format(start, cell)
    done = pipeline.translate(source, "k.cu")
    assert "while_loop" not in done.text and assumed in done.text
    (report,), problems = verified(done, pipeline.Request())
    assert report.ok and not problems, report.failures
    checked = load_module(pipeline.translate(source, "k.cu", Options(checked=True)).text)
    x, y = jnp.arange(6.0), jnp.zeros(2)
    plain = load_module(done.text).k
    good, bad = jnp.array([3, 2], jnp.int32), jnp.array([4, 2], jnp.int32)
    assert checked.k(good, x, y, 2, 3).tolist() == plain(good, x, y, 2, 3).tolist()
    with pytest.raises(checkify.JaxRuntimeError) as raised:
        checked.k(bad, x, y, 2, 3)
    assert assumed in str(raised.value)


@pytest.mark.parametrize("cell", ["x[r + c]", "x[2 * r + c]", "x[r * width + 2 * c]", "x[r * r + c]"])
def test_windows_that_may_overlap_are_no_rows(cell):
    done = pipeline.translate(KERNEL.format("0", cell), "k.cu")
    assert "while_loop" in done.text and "for all" not in done.text


def test_rows_from_the_fifth_on_are_none_of_three():
    source = """__global__ void k(int n, float *y, const float *x, const int *ptr) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i > 3 && i < n) { float s = 0.0f; for (int j = ptr[i]; j < ptr[i + 1]; j++) s += x[j] * x[j]; y[i] = s; } }"""
    k = load_module(pipeline.translate(source, "k.cu").text).k
    ptr, x = jnp.array([0, 1, 1, 2, 2, 4, 5], jnp.int32), jnp.arange(5.0)
    assert k(3, jnp.ones(6), x, ptr).tolist() == [1] * 6
    assert k(6, jnp.ones(6), x, ptr).tolist() == [1, 1, 1, 1, 13, 16]
