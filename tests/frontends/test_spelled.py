"""What plain functions spell otherwise: lists of numbers, parameters bound again, imports of their own, exchanges."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

HEAD = "import math\nimport numpy as np\n"
KNAPSACK = """
def f(w, x, n):
    best = [0.0] * (n + 1)
    for i in range(len(w)):
        for c in range(n, w[i] - 1, -1):
            cand = best[c - w[i]] + x[i]
            if cand > best[c]:
                best[c] = cand
    return best[n]
"""
LONGEST = """
def f(w, x, n):
    m = len(w)
    dp = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(1, len(dp)):
        for j in range(1, len(dp[0])):
            if w[j - 1] == i % 3:
                dp[i][j] = dp[i - 1][j - 1] + 1
            else:
                dp[i][j] = max(dp[i - 1][j], dp[i][j - 1])
    return dp[n][m] + 0.0 * x[0]
"""
TYPE_OF_WHAT_IS_STORED = """
def f(w, x, n):
    sums = [0 for _ in range(n)]
    low = [float("inf")] * n
    for i in range(len(x)):
        sums[w[i] % n] += x[i]
        low[w[i] % n] = min(low[w[i] % n], x[i])
    s = 0.0
    for v in sums:
        s += v * v
    for k in range(n):
        if low[k] < 1e30:
            s += low[k]
    return s
"""
TWO_ROWS = """
def f(w, x, n):
    prev = [0.0] * n
    cur = [0] * n
    for i in range(len(x)):
        for j in range(n):
            cur[j] = max(prev[j], prev[j - 1] + x[i] if j > 0 else x[i])
        prev, cur = cur, prev
    return prev[n - 1]
"""
OWN_COPY = """
def f(w, x, n):
    s = x[0] * x[0]
    x = x.copy()
    for t in range(n):
        for i in range(1, len(x)):
            x[i] = 0.5 * (x[i] + x[i - 1]) * w[0]
    return s + x[len(x) - 1]
"""
OWN_IMPORT = """
def f(w, x, n):
    import math
    s = 0.0
    for i in range(len(x)):
        s += math.sin(x[i]) * n
    return s
"""
NEW_OF_ARITHMETIC = """
def f(w, x, n):
    m = len(x)
    r = np.ones(m) / m
    for t in range(n):
        new = np.full(m, 0.15 / m)
        for i in range(m):
            new[w[i] % m] += 0.85 * r[i] * x[i]
        r = new
    s = 0.0
    for i in range(m):
        s += (i + 1) * r[i]
    return s
"""
ALL = [KNAPSACK, LONGEST, TYPE_OF_WHAT_IS_STORED, TWO_ROWS, OWN_COPY, OWN_IMPORT, NEW_OF_ARITHMETIC]
NAMES = ["knapsack", "rows", "stored", "two rows", "own copy", "own import", "new of arithmetic"]


def made(source):
    return pipeline.translate(HEAD + source, "f.py", Options(only=("f",)))


def compared(source):
    """Values and a slope beside those of the source, run by Python."""
    done = made(source)
    assert "f" in done.raised, done.diagnostics
    f = load_module(done.text).f
    given = {}
    exec(HEAD + source, given)
    rng = np.random.default_rng(5)
    for m, n in ((1, 1), (2, 1), (3, 2), (7, 5)):
        w, x = rng.integers(1, 4, m), rng.uniform(0.3, 1.7, m)
        assert np.allclose(f(w, x, n), given["f"](w, x.copy(), n)), (m, n)
        ahead, step = rng.normal(size=m), 1e-6
        there, back = (given["f"](w, x + s * ahead, n) for s in (step, -step))
        slope = np.dot(jax.grad(f, argnums=1)(w, x, n), ahead)
        assert np.allclose(slope, (there - back) / (2 * step), atol=1e-6), (m, n)


@pytest.fixture
def wide():
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("source", ALL, ids=NAMES)
def test_values_and_gradients(source, wide):
    compared(source)


MEANS_OTHERWISE = {
    "repeated": KNAPSACK.replace("best = [0.0] * (n + 1)", "best = [0.0] * (n + 1)\n    best = best * 2"),
    "joined": KNAPSACK.replace("return best[n]", "return best + best"),
    "a copy of a part": KNAPSACK.replace("return best[n]", "row = best[1:]\n    row[0] = 1.0\n    return best[1]"),
    "one row many times": LONGEST.replace("[[0] * (m + 1) for _ in range(n + 1)]", "[[0] * (m + 1)] * (n + 1)"),
    "a row that is another's": LONGEST.replace("    return", "    dp[0] = dp[n]\n    return"),
    "grown": KNAPSACK.replace("            if cand", "            best.append(cand)\n            if cand"),
}


@pytest.mark.parametrize("source", MEANS_OTHERWISE.values(), ids=MEANS_OTHERWISE)
def test_what_only_lists_do_is_refused(source):
    assert "f" not in made(source).raised


def test_a_copy_that_may_not_run_is_refused():
    sometimes = OWN_COPY.replace("    x = x.copy()", "    if n > 2:\n        x = x.copy()")
    assert "f" not in made(sometimes).raised


def test_an_import_that_another_function_gives_another_meaning_is_left():
    other = "\ndef g(x):\n    from cmath import sin as math\n    return math(x)\n"
    assert "f" not in made(OWN_IMPORT + other).raised


TURNS = """
def f(a, b, c, steps):
    prev = a.copy()
    cur = b.copy()
    nxt = np.zeros_like(a)
    for _ in range(steps):
        for i in range(1, len(a) - 1):
            nxt[i] = 2.0 * cur[i] - prev[i] + c * (cur[i + 1] - 2.0 * cur[i] + cur[i - 1])
        prev, cur, nxt = cur, nxt, prev
    return cur
"""


def test_copies_of_two_parameters_change_places_where_these_are_alike(wide):
    f = load_module(made(TURNS).text).f
    given = {}
    exec(HEAD + TURNS, given)
    rng = np.random.default_rng(5)
    for m, n in ((0, 2), (1, 2), (2, 1), (3, 0), (7, 4)):
        a, b = rng.normal(size=m), rng.normal(size=m)
        assert np.allclose(f(a, b, 0.3, n), given["f"](a, b, 0.3, n)), (m, n)
    by = rng.normal(size=7)
    slope = jax.grad(lambda a, b: f(a, b, 0.3, 4) @ by, argnums=(0, 1))(a, b)
    for k, s in enumerate(slope):
        ends = [
            given["f"](*(v + (h * by if j == k else 0) for j, v in enumerate((a, b))), 0.3, 4) for h in (1e-6, -1e-6)
        ]
        assert np.allclose(s @ by, (ends[0] - ends[1]) @ by / 2e-6)
    with pytest.raises(ValueError, match="one shape"):
        f(a, b[:-1], 0.3, 2)
    with pytest.raises(ValueError, match="one type"):
        f(a, b.astype(np.float32), 0.3, 2)


def test_integers_and_floats_do_not_change_places():
    mixed = TURNS.replace("np.zeros_like(a)", "np.zeros(len(a), dtype=np.int64)")
    assert "f" not in made(mixed).raised
    unknown = NEW_OF_ARITHMETIC.replace("np.full(m, 0.15 / m)", "np.full(m, n * 1)")
    assert "f" not in made(unknown).raised


ROLLED = """
def f(w, x, n):
    u = x.copy()
    for t in range(n):
        left = np.roll(u, 1)
        u[:] = u - 0.1 * (u - np.roll(u, -w[0]))
        for i in range(len(u)):
            u[i] += 0.2 * left[i] * left[i]
    s = 0.0
    for i in range(len(u)):
        s += (i + 1) * u[i]
    return s
"""
TABLE = """
def f(w, x, n):
    T = [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]]
    K = [[0.0, 1.0], [x[0], 2.0]]
    s = 0.0
    for i in range(len(x)):
        s += T[w[i] - 1][i % 3] * x[i]
        K[i % 2][1] += K[1][0] * x[i]
    return s + K[0][1] * K[1][1]
"""
TUPLES = """
def f(w, x, n):
    best = (0.0, 0)
    a = (1.0, 2.0)
    b = (3.0, 4.0)
    for i in range(len(x)):
        if x[i] > best[0]:
            best = (x[i], i)
        a = (b[0] * 0.5, a[1] + x[i])
        c = a
        a = b
        b = c
    u, v = a
    return best[0] + best[1] + u * v + b[-1]
"""
TURNED = """
def f(w, x, n):
    M = np.zeros((len(x), n))
    for i in range(len(x)):
        for j in range(n):
            M[i, j] = x[i] * (j + 1) + i
    T = M.T
    rows, cols = T.shape
    s = 0.0
    for j in range(len(T)):
        for i in range(T.shape[1]):
            T[j, i] *= 1.5
            s += T[j, i] ** 2 * (cols - i)
    return s + M[0, n - 1]
"""


ROLLED_AGAIN = """
def f(w, x, n):
    f = x.copy()
    g = np.zeros(len(x))
    for t in range(n):
        f = np.roll(f, t)
        g = np.roll(f, -w[0])
        for i in range(len(f)):
            f[i] += 0.5 * g[i] * g[i]
    s = 0.0
    for i in range(len(f)):
        s += (i + 1) * f[i] * g[i]
    return s
"""
SEVERAL = [ROLLED, ROLLED_AGAIN, TABLE, TUPLES, TURNED]


@pytest.mark.parametrize("source", SEVERAL, ids=["rolled", "rolled again", "table", "tuples", "turned"])
def test_values_and_gradients_of_what_stands_for_something_else(source, wide):
    compared(source)


def test_a_roll_is_a_roll():
    assert "jnp.roll(u, 1)" in made(ROLLED).text


LISTS = {
    "repeated": "K = [0.5, 1.0]\n    L = K * 2\n    return L[1] * x[0]",
    "joined": "K = [0.5, 1.0]\n    L = K + K\n    return L[1] * x[0]",
    "a part that is changed": "K = [0.5, 1.0]\n    L = K[1:]\n    L[0] = x[0]\n    return K[1]",
}


@pytest.mark.parametrize("lines", LISTS.values(), ids=LISTS)
def test_arithmetic_of_lists_is_none_of_arrays(lines):
    head = "\ndef f(w, x, n):\n    for i in range(n):\n        x[0] += w[i]\n    "
    done = made(head + lines)
    assert "f" not in done.raised and any("is a list" in d.reason for d in done.diagnostics), done.diagnostics


def test_names_that_stand_for_several_things_are_left_where_more_is_done_with_them():
    for old, new in (("u, v = a", "u, v = a + b"), ("b = c\n", "b = (1.0, 2.0, 3.0)\n")):
        assert old in TUPLES
        assert "f" not in made(TUPLES.replace(old, new)).raised
    for old, new in (("T = M.T", "T = M.T\n    M = M.copy()"), ("T[j, i] ** 2", "T[j][i] ** 2")):
        assert old in TURNED
        assert "f" not in made(TURNED.replace(old, new)).raised
    for other in ("np.zeros(len(x) + 1)", "np.zeros(len(x), np.int64)"):
        assert "f" not in made(ROLLED_AGAIN.replace("np.zeros(len(x))", other)).raised
    for other in ("np.roll(u, 1, 2)", "np.roll(u, w)", "np.roll(u, w[:1])"):
        assert "f" not in made(ROLLED.replace("np.roll(u, 1)", other)).raised
