"""Arrays made by a plain function whose names change places: their contents do."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SWAPPED = """
def f(w, x):
    n, m = w.shape
    prev = np.zeros(m)
    cur = np.ones(m)
    for i in range(n):
        for j in range(m):
            cur[j] = w[i, j] + (prev[j - 1] if j > 0 else x) * 0.5 + 0.1 * cur[j]
        prev, cur = cur, prev
    return prev, cur
"""
TURNED = """
def f(w, x):
    n, m = w.shape
    a = np.zeros(m)
    b = np.full(m, 0.5)
    c = np.zeros(m)
    for i in range(n):
        for j in range(1, m - 1):
            c[j] = 2 * b[j] - a[j] + x * (b[j - 1] + b[j + 1]) * w[i, j]
        if i != 1:
            a, b, c = b, c, a
    return b, c
"""
MADE_ANEW = """
def f(w, x):
    n, m = w.shape
    prev = np.zeros(m)
    for i in range(n):
        cur = np.zeros(m)
        cur[0] = i + 1
        for j in range(1, m):
            cur[j] = min(cur[j - 1] + x, prev[j] + w[i, j], prev[j - 1] + 0.5)
        prev = cur
    return prev
"""


def made(source):
    return pipeline.translate("import numpy as np\n" + source, "f.py", Options(only=("f",)))


@pytest.mark.parametrize("source", [SWAPPED, TURNED, MADE_ANEW])
def test_contents_change_places(source):
    given = {"np": np}
    exec(source, given)
    f = load_module(made(source).text).f
    rng = np.random.default_rng(3)
    for n in (1, 3):
        w = rng.random((n, 4))
        for got, wanted in zip(np.asarray(f(w, 0.3)).T, np.asarray(given["f"](w, 0.3)).T, strict=True):
            assert got == pytest.approx(wanted, rel=1e-5)
    slope = jax.grad(lambda x: sum(map(np.sum, jax.tree.leaves(f(w, x)))))(0.3)
    ends = [np.sum(given["f"](w, 0.3 + h)) for h in (-1e-6, 1e-6)]
    assert slope == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-3)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("cur = np.ones(m)\n", "cur = np.ones(m + 1)\n", "different shapes"),
        ("np.ones(m)", "np.ones(m, np.float32)", "different types"),
        ("cur = np.ones(m)\n", "cur = np.ones(m)\n    part = cur[1:]\n    part[0] = x\n", "a part of cur"),
        ("cur = np.ones(m)\n", "cur = w[0]\n", "more than once"),
        ("prev, cur = cur, prev\n", "prev = cur\n", "more than once"),
    ],
)
def test_what_others_may_see(old, new, reason):
    assert old in SWAPPED
    done = made(SWAPPED.replace(old, new))
    assert done.text is None
    assert any(reason in d.reason for d in done.diagnostics), done.diagnostics


def test_a_row_that_is_used_after_it_was_renamed():
    done = made(MADE_ANEW.replace("return prev", "return prev, cur"))
    assert done.text is None
