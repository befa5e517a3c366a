"""Shortest paths: stores that change nothing where another instance reads."""

# ruff: noqa: E501 - kernels on one line

import numpy as np
import pytest

from kraise.ir import equations as eq
from kraise.verify import interpreter
from tests.raising.agree import kinds, raised, read, statements
from tests.raising.pointwise import run

PATHS = "def f(d):\n n = d.shape[0]\n for k in range(n):\n  for i in range(n):\n   for j in range(n):\n    {}"


def inner_axes(kernel):
    return [len(s.axes) for s in statements(kernel.body) if isinstance(s, eq.Write)]


def test_takes():
    kernel = raised(PATHS.format("d[i, j] = min(d[i, j], d[i, k] + d[k, j])"))
    assert inner_axes(kernel) == [2] and kinds(kernel) == {"Fold"}
    assert any("d[k, k] >= 0" in a for a in kernel.assumptions)


def test_closure_needs_no_assumption():
    kernel = raised(PATHS.format("d[i, j] = max(d[i, j], min(d[i, k], d[k, j]))"))
    assert inner_axes(kernel) == [2] and not kernel.assumptions


@pytest.mark.parametrize("body", ["d[i, j] = d[i, j] + d[i, k] * d[k, j]", "d[i, j] = min(d[i, j], d[i, k] - d[k, j])",
                                  "d[i, j] = min(d[i, j], 2 * d[i, k] + d[k, j])", "d[i, j] = max(d[i, j], d[i, k] * d[k, j])"])  # fmt: skip
def test_declines(body):
    kernel = raised(PATHS.format(body))
    assert max(inner_axes(kernel)) < 2


STEPS = ["min(d[i, j], d[i, k] + d[k, j])", "max(d[i, j], min(d[i, k], d[k, j]))", "min(d[i, j], 2 * d[i, k] + d[k, j])",
         "min(d[i, j], d[i, k] - d[k, j])", "min(d[i, j], max(d[i, k], d[k, j]))"]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_values_where_the_assumption_holds(step):
    source = PATHS.format(f"d[i, j] = {step}")
    module, function = read(source)
    for n in (0, 1, 2, 4):
        d = np.random.default_rng(n).integers(0, 9, (n, n)).astype(float)
        expected = interpreter.run(module, function.name, {"d": d}).arrays["d"]
        np.testing.assert_array_equal(run(raised(source), {"d": d})[0], expected)
