"""Histograms that each block first makes for itself are one histogram; what is not passed on whole is not."""

import pytest

from kraise import pipeline

SOURCE = """
from numba import cuda, int32

@cuda.jit
def tally(v, h, n):
    own = cuda.shared.array(64, int32)
    b = cuda.threadIdx.x
    while b < 64:
        own[b] = 0
        b += cuda.blockDim.x
    cuda.syncthreads()
    for i in range(cuda.grid(1), n, cuda.gridsize(1)):
        cuda.atomic.add(own, v[i], 1)
    cuda.syncthreads()
    b = cuda.threadIdx.x
    while b < 64:
        cuda.atomic.add(h, b, own[b])
        b += cuda.blockDim.x
"""
ONE = "h.at[v[:n]].add(1)"


def test_one_histogram():
    done = pipeline.translate(SOURCE, "f.py")
    assert done.text and ONE in done.text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("own[b] = 0", "own[b] = 1"),
        ("    while b < 64:\n        cuda.atomic", "    while b < 32:\n        cuda.atomic"),
        ("cuda.atomic.add(h, b, own[b])", "cuda.atomic.add(h, b, own[63 - b])"),
        ("cuda.atomic.add(h, b, own[b])", "cuda.atomic.add(h, b, 2 * own[b])"),
        ("cuda.atomic.add(h, b, own[b])", "cuda.atomic.add(h, b // 2 * 2, own[b])"),
        ("1)\n    cuda.syncthreads()\n    b =", "1)\n    b ="),
    ],
)
def test_what_is_passed_on_otherwise(old, new):
    assert old in SOURCE
    done = pipeline.translate(SOURCE.replace(old, new), "f.py")
    assert not done.text or ONE not in done.text
