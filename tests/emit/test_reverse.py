"""Every raised function with a float result has a derivative in reverse, whatever form its loops took.

The derivatives are the interpreter's; a loop whose bounds are known only within another loop must not come out as a
``fori_loop`` with traced bounds, which JAX cannot run backwards.
"""

import pytest

from kraise import pipeline
from tests.checks import verified

N = {"n": 7}
CASES = {
    "triangle in a loop that stays": (
        """
def f(a, n):
    for k in range(n):
        for i in range(k + 1, n):
            a[i] = a[i] - 0.3 * a[k] * a[i]
""",
        {"a": (7,)},
        N,
    ),
    "inner loop up to the outer": (
        """
def f(x, y, n):
    for i in range(n):
        s = 0.0
        for j in range(i + 1):
            s = 0.5 * s + x[j] * x[j]
        y[i] = s
""",
        {"x": (7,), "y": (7,)},
        N,
    ),
    "running maximum": (
        """
def f(x, y, n):
    m = x[0]
    for i in range(n):
        m = max(m, x[i])
        y[i] = m * m
""",
        {"x": (7,), "y": (7,)},
        N,
    ),
    "affine recurrence": (
        """
def f(a, b, y, n):
    s = 1.0
    for i in range(n):
        s = a[i] * s + b[i]
        y[i] = s
""",
        {"a": (7,), "b": (7,), "y": (7,)},
        N,
    ),
    "product along an axis": (
        """
def f(x, y, n):
    p = 1.0
    for i in range(n):
        p *= x[i]
        y[i] = p
""",
        {"x": (7,), "y": (7,)},
        N,
    ),
    "largest with its place": (
        """
def f(x, y, n):
    best = x[0]
    at = 0
    for i in range(1, n):
        if x[i] > best:
            best = x[i]
            at = i
    y[0] = best * best + at
""",
        {"x": (7,), "y": (1,)},
        N,
    ),
    "atomic maximum": (
        """
from numba import cuda

@cuda.jit
def f(x, w, y, n):
    i = cuda.grid(1)
    if i < n:
        cuda.atomic.max(y, i % 3, w[i] * x[i])
""",
        {"x": (7,), "w": (7,), "y": (3,)},
        N,
    ),
    "bounded while": (
        """
def f(x, y, n, most):
    for i in range(n):
        v = x[i]
        k = 0
        while k < most and v < 4.0:
            v = v * 1.5 + 0.1 * x[i]
            k += 1
        y[i] = v
""",
        {"x": (7,), "y": (7,)},
        {**N, "most": 9},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_in_reverse(name):
    source, shapes, values = CASES[name]
    done = pipeline.translate(source, "k.py")
    assert not done.diagnostics, done.diagnostics
    ((report,), problems) = verified(done, pipeline.Request(shapes=shapes, values=values))
    assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
    assert sum(row.check == "vjp" and row.status == "ok" for row in report.rows) >= 2
    assert "equinox" not in done.text


def test_a_while_without_a_bound_is_equinox_s_and_no_other_module_imports_it():
    source = """
def root(x, y, n):
    for i in range(n):
        v = x[i]
        while v * v > x[i] + 0.001:
            v = 0.5 * (v + x[i] / v)
        y[i] = v
"""
    done = pipeline.translate(source, "k.py")
    assert not done.diagnostics
    assert "import equinox.internal as eqxi" in done.text and 'kind="checkpointed"' in done.text
    ((report,), _) = verified(done, pipeline.Request(shapes={"x": (5,), "y": (5,)}, values={"n": 5}))
    assert report.ok and any(row.check == "vjp" and row.status == "ok" for row in report.rows)
