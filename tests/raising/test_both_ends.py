"""Stores to the cells at both ends of an array, which must not meet: a condition on sizes, checked."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

PYTHON = """
from numba import cuda

@cuda.jit
def f(u, left, right, d):
    i, j = cuda.grid(2)
    n, m = u.shape
    if j < m:
        if i < d:
            u[i, j] = left[i, j] * u[i, j]
            u[{last}, j] += right[i, j]
"""
CUDA = """__global__ void f(float *u, const float *l, const float *r, int n, int d) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < d) { u[i] = l[i] * u[i]; u[LAST] += r[i]; }
}"""
LAST = {"as they are": "n - d + i", "mirrored": "n - 1 - i"}


@pytest.mark.parametrize("form", LAST)
@pytest.mark.parametrize("source", [PYTHON, CUDA])
def test_the_ends_are_checked_to_be_apart(source, form):
    language = "py" if source is PYTHON else "cu"
    done = pipeline.translate(source.replace("{last}", LAST[form]).replace("LAST", LAST[form]), f"case.{language}")
    assert done.text is not None, done.diagnostics
    assert "the cells at both ends would overlap: d <= n - d must hold" in " ".join(done.text.split())
    agrees(done, pipeline.Request(), form)
    f = load_module(done.text).f
    rng = np.random.default_rng(0)
    for n, d in ((6, 3), (7, 3), (4, 0), (9, 1)):
        shape = (n, 2) if language == "py" else (n,)
        u, left, right = rng.random((3, *shape), "f")
        expected = u.copy()
        expected[:d] *= left[:d]
        last = right[:d] if form == "as they are" else right[:d][::-1]
        expected[n - d :] += last
        found = f(u, left, right, d) if language == "py" else f(u, left, right, n, d)
        np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-6)
    u, left, right = rng.random((3, *((5, 2) if language == "py" else (5,))), "f")
    with pytest.raises(ValueError, match="both ends"):
        f(u, left, right, 3) if language == "py" else f(u, left, right, 5, 3)


@pytest.mark.parametrize(
    "body",
    [
        "if (i < n) { u[i] = l[i]; u[n - 1 - i] = r[i]; }",  # all cells, from either end
        "if (i < d) { u[i] = l[i]; u[i + 1] = r[i]; }",
        "if (i < d) { u[i] = l[i]; u[n - d + i / 2] = r[i]; }",  # the end itself meets itself
    ],
)
def test_other_races_stay_refused(body):
    source = CUDA.replace("if (i < d) { u[i] = l[i] * u[i]; u[LAST] += r[i]; }", body)
    done = pipeline.translate(source, "case.cu")
    assert done.text is None and {d.code for d in done.diagnostics} <= {"KR201", "KR202", "KR203"}


FROM_THE_END = """
from numba import cuda

@cuda.jit
def f(u, w, d):
    i, j = cuda.grid(2)
    n, m = u.shape
    if j < m and i < d:
        u[n - i - 1, j] *= w[i]
"""


def test_rows_counted_from_the_end_by_a_size_are_checked_to_be_there():
    done = pipeline.translate(FROM_THE_END, "case.py")
    assert done.text is not None, done.diagnostics
    assert "d <= n must hold" in " ".join(done.text.split())
    agrees(done, pipeline.Request())
    f = load_module(done.text).f
    u, w = np.random.default_rng(0).random((4, 3), "f"), np.arange(1.0, 5.0, dtype="f")
    for d in range(5):
        expected = u.copy()
        expected[4 - d :] *= w[:d][::-1, None]
        np.testing.assert_allclose(np.asarray(f(u, w, d)), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="before its first element"):
        f(u, np.ones(5, "f"), 5)
