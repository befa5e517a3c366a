"""Rows whose numbers are parameters (``x[a * m + i]``): each thread has its column."""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

SWAP = """__global__ void swap(float *x, int m, int a, int b) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < m) { float t = x[a * m + i]; x[a * m + i] = x[b * m + i]; x[b * m + i] = t; }
}"""


def test_two_rows_change_places():
    swap = load_module(pipeline.translate(SWAP, "f.cu").text).swap
    x = np.arange(12.0)
    for a, b in ((0, 2), (3, 1), (1, 1)):
        wanted = x.reshape(4, 3).copy()
        wanted[[a, b]] = wanted[[b, a]]
        assert swap(jnp.array(x), 3, a, b).tolist() == wanted.ravel().tolist()


@pytest.mark.parametrize(
    ("old", "new"),
    [("i < m", "i <= m"), ("x[b * m + i]", "x[b + i]"), ("x[b * m + i] = t", "x[b * m + (i + 1) % m] = t")],
)
def test_columns_that_others_have(old, new):
    assert old in SWAP
    assert pipeline.translate(SWAP.replace(old, new), "f.cu").text is None
