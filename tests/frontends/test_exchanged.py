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
BY_THREE = SWAPPED.replace("prev, cur = cur, prev", "held = prev\n        prev = cur\n        cur = held")
MADE_AGAIN = """
def f(w, x):
    n, m = w.shape
    prev = w[0].copy()
    cur = np.zeros(m)
    both = also = np.linspace(0.0, x, m) + np.ones(m) * 0.5
    count = np.arange(m, 0, -1)
    s = x
    for i in np.arange(n):
        level = np.full(m, s)
        s = 0.5 * s
        cur = np.zeros(w.shape[1])
        for j in range(1, m):
            cur[j] = prev[j - 1] * x + w[i, j] * level[j] * s
        prev = cur.copy()
        also[i % m] += prev[m - 1] * count[i % m]
    return both, prev
"""
OF_A_PARAMETER = """
def f(w, x):
    n, m = w.shape
    prev = w.copy()
    cur = np.zeros((n, m))
    unit = np.eye(m)
    for t in range(3):
        for i in range(n):
            for j in range(1, m):
                cur[i, j] = x * prev[i, j - 1] + unit[j, 0]
        prev, cur = cur, prev
    return prev[0], cur[0, :]
"""


def made(source):
    return pipeline.translate("import numpy as np\n" + source, "f.py", Options(only=("f",)))


@pytest.mark.parametrize("source", [SWAPPED, TURNED, MADE_ANEW, BY_THREE, MADE_AGAIN, OF_A_PARAMETER])
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
        ("prev, cur = cur, prev\n", "prev = np.zeros(m + 1)\n", "different shapes"),
        ("prev, cur = cur, prev\n", "prev = np.zeros(m, np.int32)\n", "different types"),
        (
            "prev, cur = cur, prev\n",
            "part = prev[1:]\n        prev = cur.copy()\n        part[0] = x\n",
            "has the name part",
        ),
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


def test_a_parameter_whose_copy_changes_places_is_of_floats():
    f = load_module(made(OF_A_PARAMETER).text).f
    with pytest.raises(ValueError, match="must be of the type of np.zeros"):
        f(np.ones((3, 4), np.int32), 0.3)


def test_parameters_that_change_places_are_returned():
    once = "def f(x, y):\n    x, y = y, x\n    for i in range(len(x)): x[i] = 2 * y[i]\n    return x"
    done, given = made(once).text, {"np": np}
    x, y = np.arange(3.0), np.ones(3)
    assert load_module(done).f(x, y).tolist() == [0.0, 2.0, 4.0]
    chosen = (
        "def f(x, y, c):\n    z = y\n    z = x if c > 0 else y\n    for i in range(3): z[i] = z[i] + 1\n    return z"
    )
    for c in (0, 1):
        assert load_module(made(chosen).text).f(x, y, c)[0].tolist() == [(y, x)[c][i] + 1 for i in range(3)]
    turned = "def f(x, y, n):\n    for t in range(n):\n        for i in range(3): y[i] = x[i] + 1\n"
    turned += "        x, y = y, x\n    return x"
    exec(turned, given)
    for n in (2, 3):
        found = load_module(made(turned).text).f(x, y, n)
        own = x.copy(), y.copy()
        want = given["f"](*own, n)
        assert [f.tolist() for f in found] == [want.tolist(), own[0].tolist(), own[1].tolist()]


HANDED = """
def f(w, x):
    n, m = w.shape
    for t in range(3):
        new = np.zeros((n, m))
        for i in range(n):
            for j in range(1, m):
                new[i, j] = x * w[i, j - 1] + w[i, j]
        w = new
    return w
"""


def test_a_parameter_that_is_handed_new_arrays():
    """``u = new`` at the end of each round, where the round made ``new``: the caller's array is never stored to."""
    given = {"np": np}
    exec(HANDED, given)
    f = load_module(made(HANDED).text).f
    w = np.random.default_rng(4).random((3, 4))
    assert np.asarray(f(w, 0.3)) == pytest.approx(given["f"](w, 0.3), rel=1e-5)
    slope = jax.grad(lambda x: f(w, x).sum())(0.3)
    ends = [given["f"](w, 0.3 + h).sum() for h in (-1e-6, 1e-6)]
    assert slope == pytest.approx((ends[1] - ends[0]) / 2e-6, rel=1e-3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("        w = new\n", "        w = new\n        w[0, 0] = x\n"),  # the caller's, once
        ("    for t in", "    w[0, 0] = x\n    for t in"),
        ("        w = new\n", "        old = w\n        w = new\n"),
        ("        w = new\n", "        w = new\n        new[0, 0] = x\n"),
    ],
)
def test_a_parameter_that_is_handed_new_arrays_and_more(old, new):
    assert old in HANDED
    assert made(HANDED.replace(old, new)).text is None
