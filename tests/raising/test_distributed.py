"""Loops that store and accumulate: one that stores and one that accumulates, where that is the same."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = "__global__ void k(float *x, float *y, const int *m, float *out, int n) { float s = 0;"
LOOP = "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
END = " atomicAdd(out, s); }"
APART = {
    "the value of both": "float e = expf(x[i]); y[i] = e; s += e;",
    "what is stored is read behind the store": "x[i] = 0.5f * x[i] + 1; y[i] -= x[i]; s += x[i] * x[i];",
    "what is stored over is read before the store": "s += x[i]; x[i] = 0.5f * x[i];",
    "under one condition": "if (m[i] > 0) { x[i] = 2 * x[i]; s += x[i]; }",
    "stored on either way": "if (m[i] > 0) x[i] = 1; else x[i] = -1; s += x[i];",
    "an inner loop": "float t = 0; for (int j = 0; j < n; ++j) t += x[j] * j; y[i] = t; s += t * t;",
    "a histogram": "int b = m[i] & 1; atomicAdd(&y[b], 1.0f); s += b;",
    "a cell that moves with the round": "int at = i + 1; y[at] = x[i]; s += y[at];",
    "a cell that moves against the round": "int at = n - 1 - i; y[at] = x[i]; s += y[at];",
}
WHOLE = {
    "the running sum is stored": "s += x[i]; y[i] = s;",
    "the next cell is read": "s += x[i + 1]; x[i] = 1;",
    "one read before, one behind": "float o = x[i]; x[i] = 0.5f * o * o; s += fabsf(x[i] - o);",
    "stored under a condition, read anyway": "if (m[i] > 0) x[i] = 2; s += x[i];",
    "stored twice": "x[i] = 1; s += x[i]; x[i] = 2;",
    "the sum decides": "if (s < 10) y[i] = 1; s += x[i];",
    "a cell of two rounds": "s += x[i / 2]; x[i / 2] = 0;",
    "what is read is somebody else's": "x[i] = 2; s += x[n - 1 - i];",
}


@pytest.mark.parametrize("name", APART)
@pytest.mark.long_cases("moves against", "the value of both", "stored on either way")
def test_one_index_over_all(name):
    done = pipeline.translate(HEAD + LOOP + "{ " + APART[name] + " }" + END, "k.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    assert "grid" not in done.text and "fori_loop" not in done.text, done.text
    for n, grid in ((11, (2,)), (11, (1,)), (3, (4,))):
        shapes = {"x": (12,), "y": (12,), "m": (12,), "out": (2,)}
        request = pipeline.Request(shapes=shapes, values={"n": n}, grid=grid, block=(4,))
        agrees(done, request)


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.long_cases("stored twice")
def test_what_must_stay_one_loop(name):
    """Or gives by another way what the loop does."""
    done = pipeline.translate(HEAD + LOOP + "{ " + WHOLE[name] + " }" + END, "k.cu")
    assert {d.code for d in done.diagnostics} <= {"KR201", "KR203"}, done.diagnostics
    for n, grid in ((11, (2,)), (11, (1,)), (3, (4,))) if done.text else ():
        shapes = {"x": (12,), "y": (12,), "m": (12,), "out": (2,)}
        agrees(done, pipeline.Request(shapes=shapes, values={"n": n}, grid=grid, block=(4,)), done.text)


def test_python_loops_over_rows():
    source = """from numba import cuda
@cuda.jit
def k(x, y, z, m):
    r = cuda.blockIdx.x
    s = 0.0
    for c in range(cuda.threadIdx.x, m, cuda.blockDim.x):
        y[r, c] = 2.0 * x[r, c]
        s += y[r, c]
    cuda.atomic.add(z, r, s)
"""
    done = pipeline.translate(source, "k.py")
    assert done.text and not done.diagnostics, done.diagnostics
    assert "scan" not in done.text and "fori_loop" not in done.text and "pad" not in done.text, done.text
    request = pipeline.Request(shapes={"x": (3, 7), "y": (3, 7), "z": (3,)}, values={"m": 7}, grid=(3,), block=(4,))
    agrees(done, request)


def test_a_loop_of_the_same_name_is_another_one():
    source = """from numba import cuda
@cuda.jit
def k(x, y, n):
    t = cuda.grid(1)
    for c in range(n):
        y[c] = 1.0 + t
    for c in range(t, n, cuda.gridsize(1)):
        y[c] = x[c]
"""
    done = pipeline.translate(source, "k.py")
    assert done.text is None
    assert "all threads that differ in t write the same element" in done.diagnostics[0].reason


def test_a_range_that_the_body_changes():
    source = """from numba import cuda
@cuda.jit
def k(x, y, z, n):
    t = cuda.grid(1)
    m = n
    for c in range(t, m, cuda.gridsize(1)):
        y[c] = x[c]
        m += 1
    cuda.atomic.add(z, 0, m)
"""
    done = pipeline.translate(source, "k.py")
    assert done.text and not done.diagnostics, done.diagnostics
    for n, grid in ((11, (2,)), (3, (4,)), (0, (1,))):
        shapes = {"x": (12,), "y": (12,), "z": (1,)}
        agrees(done, pipeline.Request(shapes=shapes, values={"n": n}, grid=grid, block=(4,)), done.text)
