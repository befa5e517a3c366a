"""Extrema and their places over no elements are what the source starts from; of nothing else, JAX raises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees

SOURCE = """
from numba import cuda

@cuda.jit
def greatest(x, y):
    i = cuda.grid(1)
    if i < x.shape[0]:
        cuda.atomic.max(y, 0, x[i])

@cuda.jit
def of_rows(A, y):
    i = cuda.grid(1)
    if i < A.shape[0]:
        m = -1e30
        for j in range(A.shape[1]):
            m = max(m, A[i, j])
        y[i] = m

@cuda.jit
def places(A, y):
    i = cuda.grid(1)
    if i < A.shape[0]:
        m = 1e30
        a = -1
        for j in range(A.shape[1]):
            if A[i, j] < m:
                m = A[i, j]
                a = j
        y[i] = a

@cuda.jit
def both(A, y):
    i = cuda.grid(1)
    if i < A.shape[0]:
        m = -5.0
        a = -1
        for j in range(A.shape[1]):
            if A[i, j] > m:
                m = A[i, j]
                a = j
        y[i] = 10 * m + a

@cuda.jit
def first(A, y):
    i = cuda.grid(1)
    if i < A.shape[0]:
        a = -1
        for j in range(A.shape[1]):
            if A[i, j] == 2.0:
                a = j
                break
        y[i] = a

@cuda.jit
def of_segments(k, v, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        m = -1e30
        for j in range(k[i], k[i + 1]):
            if v[j] > m:
                m = v[j]
                y[i] = v[j] + j

@cuda.jit
def horner(k, c, y):
    i = cuda.grid(1)
    if i < y.shape[0]:
        s = 0.0
        for j in range(k[i], k[i + 1]):
            s = s * y[i] + c[j]
        y[i] = s
"""
CASES = {
    "greatest": ((0,), [3.0], [3.0], [7.0, 5.0], [7.0]),
    "of_rows": ((2, 0), [3.0, 4.0], [-1e30, -1e30], [[1.0, 5.0], [4.0, 2.0]], [5.0, 4.0]),
    "places": ((2, 0), [3, 4], [-1, -1], [[1.0, 5.0], [4.0, 2.0]], [0, 1]),
    "both": ((2, 0), [3.0, 4.0], [-51.0, -51.0], [[1.0, 5.0], [4.0, 2.0]], [51.0, 40.0]),
    "first": ((2, 0), [3, 4], [-1, -1], [[1.0, 5.0], [4.0, 2.0]], [-1, 1]),
}
ROWS = {"of_segments": ([3.0, 4.0], [1.0, 4.0]), "horner": ([0.0, 0.0], [1.0, 0.0])}


@pytest.fixture(scope="module")
def module():
    return load_module(pipeline.translate(SOURCE, "f.py").text)


@pytest.mark.parametrize("name", CASES)
def test_what_it_starts_from(module, name):
    shape, before, after, some, of_some = CASES[name]
    f, y = getattr(module, name), jnp.array(before)
    assert f(jnp.zeros(shape), y).tolist() == pytest.approx(after)
    assert f(jnp.array(some), y).tolist() == of_some
    if y.dtype == jnp.float32:
        slope = jax.grad(lambda y: f(jnp.zeros(shape), y).sum())(y)
        assert slope.tolist() == [float(name == "greatest")] * y.size


@pytest.mark.parametrize("name", ROWS)
def test_rows_without_entries(module, name):
    f, y = getattr(module, name), jnp.array([3.0, 4.0])
    empty, some = ROWS[name]
    assert f(jnp.zeros(3, int), jnp.zeros(0), y).tolist() == empty
    assert f(jnp.array([0, 1, 1]), jnp.array([1.0]), y).tolist() == some
    assert jax.grad(lambda y: f(jnp.zeros(3, int), jnp.zeros(0), y).sum())(y).tolist() == [float(e > 0) for e in empty]


@pytest.mark.parametrize("start, raises", [("1e30", False), ("math.inf", True)])
def test_a_start_that_ties_with_nothing(start, raises):
    """Of no elements the least is infinite, which is not ``<= 1e30``."""
    source = "import math\n" + SOURCE.replace("A[i, j] < m", "A[i, j] <= m").replace("m = 1e30", f"m = {start}")
    f = load_module(pipeline.translate(source, "f.py", Options(only=("places",))).text).places
    if raises:
        with pytest.raises(ValueError, match="zero-size|empty"):
            f(jnp.zeros((2, 0)), jnp.array([3, 4]))
    else:
        assert f(jnp.zeros((2, 0)), jnp.array([3, 4])).tolist() == [-1, -1]
    assert f(jnp.array([[1.0, 1.0], [4.0, 2.0]]), jnp.array([3, 4])).tolist() == [1, 1]


def test_rows_of_no_elements_beside_a_start_of_their_own():
    source = """def f(B, x, out):
    n = len(x)
    for i in range(n):
        for j in range(n):
            m = x[i]
            for k in range(j):
                m = max(m, B[j, n - 1 - j] - B[(k + j) % n, (i + k) % n])
            out[i, j] = m
"""
    made: dict = {}
    exec(source, made)
    f = load_module(pipeline.translate(source, "f.py").text).f
    for n in (1, 3):
        B, x, out = np.arange(n * n) ** 1.5 % 7, np.linspace(-9, 2, n), np.zeros((n, n))
        B = B.reshape(n, n)
        made["f"](B, x, out)
        np.testing.assert_allclose(f(B, x, np.zeros((n, n))), out, rtol=1e-6)


ROUNDS = """
def backwards(x):
    s = 0
    t = 0.0
    for i in range(len(x) // 2):
        t = 0.5 * t - x[2 * i + 1]
        s += i * (x[2 * i] > t)
    return s, t

def swept(a):
    swaps = 0
    for i in range(len(a)):
        for j in range(len(a) - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
                swaps += 1
    return swaps

def pairs(x, t):
    n = 0
    i = 0
    j = len(x) - 1
    while i < j:
        if x[i] + x[j] <= t:
            i += 1
            n += 1
        else:
            j -= 1
    return n

def merged(a, b, out):
    i = j = k = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
        k += 1
    return i - j

def plain(x, y):
    s = 0.0
    for k in range(len(x)):
        s = 0.5 * s + x[k]
        y[k] = s
"""
EMPTY = {
    "backwards": ([0], [5]),
    "swept": ([0], [4]),
    "pairs": ([0, None], [5, None]),
    "merged": ([0, 3, 3], [2, 0, 2], [3, 2, 5]),
    "plain": ([0, 0], [3, 3]),
}


@pytest.fixture(scope="module")
def rounds():
    text = pipeline.translate(ROUNDS, "f.py").text
    return load_module(text), text


@pytest.mark.parametrize("name", EMPTY)
def test_no_rounds_over_an_array_without_elements(rounds, name):
    """JAX traces a round whether or not there is one."""
    made: dict = {}
    exec(ROUNDS, made)
    rng = np.random.default_rng(0)
    for sizes in EMPTY[name]:
        given = [np.sort(rng.standard_normal(n)) if n is not None else 0.3 for n in sizes]
        if name == "swept":
            given = [a[::-1].copy() for a in given]
        own = [np.array(a) for a in given]
        value = made[name](*own)
        got = getattr(rounds[0], name)(*given)
        got = got if isinstance(got, tuple) else (got,)
        expected = [*(value if isinstance(value, tuple) else () if value is None else (value,))]
        written = {"swept": own, "merged": own[2:], "plain": own[1:]}.get(name, [])
        for g, e in zip(got, [*expected, *written], strict=True):
            np.testing.assert_allclose(g, e, rtol=1e-6)
            assert np.shape(g) == np.shape(e)


def test_what_comes_in_row_by_row_needs_no_early_return(rounds):
    _, *functions = rounds[1].split("\n@")
    returns = [f.count("== 0:\n        return") for f in functions]
    assert returns == [0, 1, 1, 2, 0]
    assert "resize" not in rounds[1]


BANDED = """
import numpy as np

def f(a, b, w):
    n, m = len(a), len(b)
    D = np.full((n + 1, m + 1), np.inf)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(max(1, i - w), min(m, i + w) + 1):
            D[i, j] = abs(a[i - 1] - b[j - 1]) + min(D[i - 1, j], D[i, j - 1], D[i - 1, j - 1])
    return D[n, m]
"""


def test_a_returned_element_of_an_array_that_is_made():
    """What is left without elements of ``a`` reads the array as it was made."""
    done = pipeline.translate(BANDED, "f.py")
    assert done.text is not None, done.diagnostics
    made: dict = {}
    exec(BANDED, made)
    f, rng = load_module(done.text).f, np.random.default_rng(0)
    for n, m, w in ((0, 3, 2), (1, 1, 0), (5, 5, 1), (5, 7, 3), (5, 7, 1), (9, 4, 9)):
        a, b = rng.random(n), rng.random(m)
        np.testing.assert_allclose(f(a, b, w), made["f"](a, b, w), rtol=1e-6, err_msg=f"{n, m, w}")
    agrees(done, pipeline.Request(shapes={"a": (5,), "b": (6,)}, values={"w": 3}), done.text)


COUNTED = """
import numpy as np

def f(x, k):
    count = np.zeros(k, dtype=np.int64)
    for v in x:
        count[v] += 1
    out = np.empty_like(x)
    pos = 0
    for v in range(k):
        for _ in range(count[v]):
            out[pos] = v
            pos += 1
    return out
"""
INCREASING = """
import numpy as np

def f(x, k):
    n = len(x)
    L = np.ones(n, dtype=np.int64)
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and L[j] + 1 > L[i]:
                L[i] = L[j] + 1
    best = 0
    for i in range(n):
        best = max(best, L[i])
    return best
"""
COLUMNS = """
import numpy as np

def f(A, k):
    m, n = A.shape
    R = A.copy()
    for p in range(min(m - 1, n)):
        v = np.zeros(m)
        for i in range(p, m):
            v[i] = R[i, p]
        v[p] += k
        for j in range(p, n):
            s = 0.0
            for i in range(p, m):
                s += v[i] * R[i, j]
            for i in range(p, m):
                R[i, j] -= s * v[i]
    return R
"""


@pytest.mark.parametrize("source", [COUNTED, INCREASING, COLUMNS], ids=["counted", "increasing", "columns"])
def test_rounds_that_empty_arrays_leave_none_of(source):
    """A ``while`` whose condition does not hold at first, an integer's maximum of nothing, up to the smaller of two."""
    done = pipeline.translate(source, "f.py")
    assert done.text is not None, done.diagnostics
    made: dict = {}
    exec(source, made)
    f, rng = load_module(done.text).f, np.random.default_rng(0)
    for n in (0, 1, 2, 7):
        x = rng.random((4, n)) if source == COLUMNS else rng.integers(0, 5, n)
        np.testing.assert_allclose(f(x, 5), made["f"](x, 5), rtol=1e-4)
