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


NAMED_TWICE = """
from numba import cuda, int32

@cuda.jit
def tally(x, h, low, width):
    own = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    for b in range(t, 64, cuda.blockDim.x):
        own[b] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        b = int((x[i] - low) / width)
        if b >= 0 and b < 64:
            cuda.atomic.add(own, b, 1)
    cuda.syncthreads()
    for b in range(t, 64, cuda.blockDim.x):
        cuda.atomic.add(h, b, own[b])
"""


def test_a_counter_and_a_number_of_one_name():
    """A name that is the counter of loops here, and the bin there, is two names."""
    done = pipeline.translate(NAMED_TWICE, "f.py")
    assert done.text and "def tally(x, h, low, width):" in done.text and "h.at[" in done.text
    reports, findings = pipeline.verify(done, pipeline.Request(), source=NAMED_TWICE)
    assert not findings and all(r.ok for r in reports), [r.failures for r in reports]


def test_a_counter_that_is_read_after_its_loop_is_one_name():
    source = NAMED_TWICE.replace(
        "    cuda.syncthreads()\n    for i in", "    h[0] += b * 0\n    cuda.syncthreads()\n    for i in"
    )
    done = pipeline.translate(source, "f.py")
    assert "def tally(x, h, low, width):" not in (done.text or "")
