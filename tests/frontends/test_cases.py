"""``match``, names that the test of a ``while`` gives, loops over pairs: as the branches and loops that they are."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

SOURCE = """
import itertools

def branches(x, kinds, y):
    for i in range(len(x)):
        match kinds[i] % 5:
            case 0:
                y[i] = x[i]
            case 1 | 2 if x[i] > 0.5:
                y[i] = x[i] * x[i]
            case 4:
                continue
            case other:
                y[i] = -x[i] * other
        y[i] += 1.0

def pairs(x, kinds, y):
    for i in range(len(x) - 1):
        match (kinds[i], kinds[i + 1]):
            case (0, 0):
                y[i] = x[i]
            case (0, k):
                y[i] = x[i] * k
            case (_, 1):
                y[i] = x[i] ** 3

def halves(x, kinds, y):
    for i in range(len(x)):
        k = 0
        while (e := abs(x[i])) > 0.1 * kinds[i] and k < 8:
            x[i] = 0.5 * e
            k += 1
            if k == 3:
                continue
            x[i] *= 0.75
        y[i] = x[i] + e

def crossed(x, kinds, y):
    n = 3
    for i, j in itertools.product(range(len(y)), range(n)):
        y[i] += x[i] * x[j]
        n = 1

def backwards(x, kinds, y):
    for i, (u, v) in enumerate(zip(reversed(x), kinds[1:])):
        y[i] = u * v + i
    for k, u in enumerate(reversed(x), 1):
        y[k - 1] += u * k
"""


def assert_refused(source, name, old, new):
    """That a function is refused with ``new`` in place of ``old``."""
    assert old in source
    done = pipeline.translate(source.replace(old, new), "f.py", Options(only=(name,)))
    assert done.text is None and done.diagnostics


@pytest.mark.parametrize("name", ["branches", "pairs", "halves", "crossed", "backwards"])
def test_values_and_gradients(name):
    given = {}
    exec(SOURCE, given)
    done = pipeline.translate(SOURCE, "f.py", Options(only=(name,)))
    assert done.text is not None, done.diagnostics
    f = getattr(load_module(done.text), name)
    rng = np.random.default_rng(3)
    x, kinds, way = rng.random(7) + 0.1, np.array([0, 1, 0, 0, 4, 1, 2]), rng.random(7)

    def run(x):
        x, y = x.copy(), np.zeros(7)
        given[name](x, kinds, y)
        return y

    def last(x):
        out = f(x, kinds, np.zeros(7))
        return out[-1] if isinstance(out, tuple) else out

    assert np.asarray(last(x)) == pytest.approx(run(x), rel=1e-5)
    got = jax.jvp(last, (x,), (way,))[1]
    assert np.asarray(got) == pytest.approx((run(x + 1e-5 * way) - run(x - 1e-5 * way)) / 2e-5, rel=1e-2, abs=1e-4)


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("branches", "case 0:", "case int():"),
        ("branches", "case other:", "case other if other > 3:"),
        ("pairs", "case (0, k):", "case (0, *k):"),
        ("halves", "> 0.1 * kinds[i] and k < 8", "> 0.1 * kinds[i] and (k := k + 1) < 8"),
        ("crossed", "range(n)", "x"),
    ],
)
def test_refused(name, old, new):
    assert_refused(SOURCE, name, old, new)


def test_defaults_and_keywords_stay():
    source = """
def scaled(a, *, w, k=-2.0):
    for i in range(len(a)):
        a[i] *= k * w

def shifted(a, n=2, up=True):
    for i in range(n, len(a)):
        a[i - n] += a[i] if up else 0.0

def stepped(a, steps=3):
    for t in range(steps):
        scaled(a, w=0.5)
        shifted(a, n=1)
"""
    given = {}
    exec(source, given)
    done = pipeline.translate(source, "f.py")
    assert done.raised == ("scaled", "shifted", "stepped"), done.diagnostics
    made = load_module(done.text)
    a = np.random.default_rng(5).random(6)
    for call in (lambda m, a: m["scaled"](a, w=3.0), lambda m, a: m["shifted"](a), lambda m, a: m["stepped"](a)):
        own = a.copy()
        call(given, own)
        assert np.asarray(call(vars(made), a)) == pytest.approx(own, rel=1e-5)
    with pytest.raises(TypeError):
        made.scaled(a, 3.0)


def test_an_extent_from_the_end_bounds_a_round_of_matrices():
    source = """
import numpy as np

def f(G, H, D, S):
    for k in range(G.shape[0]):
        for i in range(D.shape[-2]):
            for j in range(D.shape[-1]):
                S[k] += G[k] @ H[i] * D[k, i, j]
    return S
"""
    done = pipeline.translate(source, "f.py", Options(only=("f",)))
    assert done.text is not None, done.diagnostics
    rng = np.random.default_rng(2)
    given = [rng.random(s) for s in ((2, 2, 2), (3, 2, 2), (2, 3, 4), (2, 2, 2))]
    expected = given[3] + np.einsum("kab,ibc,kij->kac", *given[:3])
    assert np.asarray(load_module(done.text).f(*given)) == pytest.approx(expected, rel=1e-4)


FOLDS = """
import math
import numpy as np

def extrema(a, b):
    s = 0.0
    for i in range(a.shape[0]):
        s += max(a[i, j] * b[j] for j in range(a.shape[1])) - min(a[i]) * math.prod(b)
    return s + math.fsum(abs(x) for x in b)

def ordered(a, b):
    b.sort()
    for i in range(a.shape[0]):
        a[i].sort()
        a[i, 0] += b[i]
    return a
"""


@pytest.mark.parametrize("name", ["extrema", "ordered"])
def test_folds_and_sorting_in_place(name):
    given = {}
    exec(FOLDS, given)
    done = pipeline.translate(FOLDS, "f.py", Options(only=(name,)))
    assert done.text is not None, done.diagnostics
    f = getattr(load_module(done.text), name)
    rng = np.random.default_rng(6)
    a, b, ways = rng.random((3, 4)) - 0.5, rng.random(4) - 0.5, (rng.random((3, 4)), rng.random(4))

    def first(out):
        return out[0] if isinstance(out, tuple) else out

    def run(step):
        return first(given[name](a + step * ways[0], b + step * ways[1]))

    assert np.asarray(first(f(a, b))) == pytest.approx(run(0.0), rel=1e-5)
    got = jax.jvp(lambda a, b: first(f(a, b)), (a, b), ways)[1]
    assert np.asarray(got) == pytest.approx((run(1e-5) - run(-1e-5)) / 2e-5, rel=1e-2, abs=1e-4)


@pytest.mark.parametrize(
    "name, old, new",
    [
        ("extrema", "for j in range(a.shape[1])", "for j in range(a.shape[1]) if b[j] > 0"),
        ("extrema", "min(a[i])", "min(a)"),
        ("ordered", "b.sort()", "b.sort(key=abs)"),
    ],
)
def test_other_folds_are_refused(name, old, new):
    assert_refused(FOLDS, name, old, new)
