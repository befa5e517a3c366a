"""Triangles packed row by row: each element has a cell of its own; what only looks like it."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

KERNEL = """__global__ void f(const float *x, float *d, int n) {{
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && {0}) d[{1}] = x[i] - 2 * x[j];
}}"""
LOWER, STRICT, UPPER = "i * (i + 1) / 2 + j", "i * (i - 1) / 2 + j", "i * n - i * (i + 1) / 2 + j - i - 1"
PACKED = {
    "lower": ("j <= i", LOWER, lambda n: np.tril_indices(n)),
    "strictly lower": ("j < i", STRICT, lambda n: np.tril_indices(n, -1)),
    "upper": ("j > i && j < n", UPPER, lambda n: np.triu_indices(n, 1)),
    "upper, as a half": ("j > i && j < n", "i * (2 * n - i - 1) / 2 + j - i - 1", lambda n: np.triu_indices(n, 1)),
}
MEETING = {
    "one too many": ("j <= i + 1", LOWER),
    "rows that are too short": ("j <= i", STRICT),
    "a half that is no number": ("j < i", "i * i / 2 + j"),
    "a quarter": ("j < i", "i * (i + 1) / 4 + j"),
    "the other triangle": ("j < i", UPPER),
    "beyond the last": ("j > i && j <= n", UPPER),
}


@pytest.mark.parametrize("name", PACKED)
def test_elements_of_a_triangle(name):
    condition, cell, places = PACKED[name]
    f = load_module(pipeline.translate(KERNEL.format(condition, cell), "f.cu").text).f
    for n in (1, 2, 5):
        x = np.arange(1, n + 1, dtype=np.float32) ** 2
        i, j = places(n)
        assert np.asarray(f(x, np.zeros(len(i) + 1, np.float32), n)).tolist() == [*(x[i] - 2 * x[j]), 0]


@pytest.mark.parametrize("name", MEETING)
def test_cells_that_may_meet(name):
    done = pipeline.translate(KERNEL.format(*MEETING[name]), "f.cu")
    assert not done.text and done.diagnostics[0].code in ("KR201", "KR202")
