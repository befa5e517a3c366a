"""Indices in steps that are divided: every cell of a coarser grid, and what lies between two of them."""

from __future__ import annotations

import pytest

from kraise import pipeline
from tests.checks import agrees

FINER = """
__global__ void finer(const float *coarse, float *fine, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (EVEN) fine[i] += coarse[i / BY];
  else fine[i] += 0.5f * (coarse[i / BY] + coarse[i / BY + 1]);
}
"""


def _raised(even, by):
    done = pipeline.translate(FINER.replace("EVEN", even).replace("BY", by), "k.cu")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    return done


@pytest.mark.parametrize("even", ["i % 2 == 0", "!(i & 1)", "i % 2 != 1"])
@pytest.mark.long_cases("i % 2 != 1")
def test_both_kinds_of_cells_are_slices(even):
    done = _raised(even, "2")
    assert "fine[2 * i + 1] += 0.5 * (coarse[i] + coarse[i + 1])" in done.text and "arange" not in done.text, done.text
    agrees(done, pipeline.Request(values={"n": 9}), even)


def test_a_remainder_of_three():
    text = FINER.replace("if (EVEN) fine[i] += coarse[i / BY];\n  else fine[i] +=", "if ((i + 2) % 3 == 1) fine[i] *=")
    done = pipeline.translate(text.replace("BY", "3"), "k.cu")
    assert "fine[3 * i + 2]" in done.text and "arange" not in done.text, done.text
    agrees(done, pipeline.Request(values={"n": 11}))


def test_other_numbers_are_looked_up():
    done = _raised("i % 2 == 0", "3")
    agrees(done, pipeline.Request(values={"n": 9}))


def test_a_place_that_is_left_out_at_one_of_two_ends():
    source = """
__global__ void inner(const float *u, float *r, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0 || i == n - 1) r[i] = 0.0f;
  else if (i < n) r[i] = u[i - 1] - 2.0f * u[i] + u[i + 1];
}
"""
    done = pipeline.translate(source, "k.cu")
    assert "min(threads, n - 1)" in done.text and "jnp.pad" not in done.text, done.text
    agrees(done, pipeline.Request(values={"n": 9}))
