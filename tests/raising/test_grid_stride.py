"""Loops in steps of the number of threads, and loops that only look so."""

# ruff: noqa: E501 - kernels on one line

from pathlib import Path

import pytest

from kraise import pipeline
from kraise.diagnostics import Refused
from tests.raising.agree import agree, raised, refusal, write

START = "def f(x, y):\n i = cuda.grid(1)\n for j in range(i, len(x), cuda.gridsize(1)):\n  {}"
MERGED = {
    "elementwise": "y[j] = x[j] * 2",
    "a local": "a = x[j]\n  if a > 0: a = a * 2\n  y[j] = a",
    "a guard": "if j > 0: y[j] = x[j - 1]",
    "an inner loop": "a = 0.0\n  for k in range(j): a += x[k]\n  y[j] = a",
    "an atomic": "cuda.atomic.add(y, 0, x[j])",
    "a break of an inner loop": "for k in range(3):\n   if x[j] > k: break\n   y[j] = k",
}


@pytest.mark.parametrize("name", MERGED)
def test_merged(name):
    kernel = agree(START.format(MERGED[name]))
    assert not kernel.launch
    assert "i" not in {a.name for a in write(kernel).axes}


def test_an_offset_start():
    agree("def f(x, y):\n i = cuda.grid(1)\n for j in range(i + 1, len(x), cuda.gridsize(1)):\n  y[j] = x[j - 1]")


OTHER = [
    "def f(x, y):\n i = cuda.grid(1)\n a = 1.0\n for j in range(i, len(x), cuda.gridsize(1)):\n  a *= 2\n  y[j] = x[j] * a",
    "def f(x, y):\n i = cuda.grid(1)\n for j in range(2 * i, len(x), cuda.gridsize(1)):\n  y[j] = x[j]",
    "def f(x, y):\n i = cuda.grid(1)\n for j in range(i, len(x), cuda.blockDim.x):\n  y[j] = x[j]",
]


@pytest.mark.parametrize("source", OTHER)
def test_other_loops_depend_on_the_launch(source):
    """Refused, or told apart by the launch (with a check that threads do not meet)."""
    try:
        kernel = raised(source)
    except Refused:
        return
    assert kernel.launch == "required" and kernel.checks


def test_a_race_stays_one():
    assert refusal(START.format("y[0] = x[j]")) in ("KR205", "KR201")


FACTOR = (Path(__file__).parents[2] / "samples" / "cuda_block_factor" / "kernel.cu").read_text(encoding="utf-8")
WITHOUT = {
    "eliminate": ("A[k * n + j];\n    __syncthreads();", "A[k * n + j];"),
    "substitute": (
        "if (threadIdx.x == 0) b[k] /= A[k * n + k];\n    __syncthreads();",
        "if (threadIdx.x == 0) b[k] /= A[k * n + k];",
    ),
    "column": ("i > k && i < n", "i >= k && i < n"),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_rows_that_a_loop_moves(name):
    """Strides that start behind a loop's counter are a row of it; without its barrier, or with the pivot, a race."""
    assert name in pipeline.translate(FACTOR, "a.cu").raised
    old, new = WITHOUT[name]
    done = pipeline.translate(FACTOR.replace(old, new), "a.cu")
    assert FACTOR.count(old) == 1 and name not in done.raised
    assert {d.code for d in done.diagnostics if d.kernel == name} <= {"KR201", "KR205"}
