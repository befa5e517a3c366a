"""Plain functions that are hosts of the nests in them: passes with steps that double, array code beside loops."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

FUNCTIONS = {
    "butterflies": """
import math

def f(x, n):
    size = 1
    while size < n:
        for start in range(0, n, 2 * size):
            for k in range(size):
                t = math.cos(k / size) * x[start + k + size]
                x[start + k + size] = x[start + k] - t
                x[start + k] = x[start + k] + t
        size *= 2
""",
    "powers of a counter": """
def f(x, n):
    for s in range(1, n.bit_length()):
        m = 2 ** s
        for k in range(0, n, m):
            for j in range(m // 2):
                u, v = x[k + j], x[k + j + m // 2]
                x[k + j], x[k + j + m // 2] = u + v, u - v
""",
    "a tree up and down": """
def f(x, n):
    d = 1
    while d < n:
        for i in range(0, n, 2 * d):
            x[i + 2 * d - 1] += x[i + d - 1]
        d <<= 1
    x[n - 1] = 0.0
    d = n >> 1
    while d > 0:
        for i in range(0, n, 2 * d):
            t = x[i + d - 1]
            x[i + d - 1] = x[i + 2 * d - 1]
            x[i + 2 * d - 1] += t
        d >>= 1
""",
    "numba": """
import numba

@numba.njit
def f(x, n):
    h = 1
    while h < n:
        for i in range(0, n, h * 2):
            for j in range(i, i + h):
                a, b = x[j], x[j + h]
                x[j] = a + b
                x[j + h] = a - b
        h = h * 2
""",
}


def _run(source, x, n):
    scope = {}
    exec(source.replace("import numba\n", "").replace("@numba.njit\n", ""), scope)
    x = x.copy()
    scope["f"](x, n)
    return x


@pytest.mark.parametrize("n", [1, 2, 16])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_pass_is_of_whole_arrays(name, n):
    if "n.bit_length" in FUNCTIONS[name]:
        source = FUNCTIONS[name].replace("n.bit_length()", str(n.bit_length()))
    else:
        source = FUNCTIONS[name]
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    assert "fori_loop" not in done.text and "while_loop" not in done.text, done.text
    with jax.enable_x64(True):
        module = load_module(done.text)
        rng = np.random.default_rng(n)
        x, w, d = (rng.normal(size=n) for _ in range(3))
        assert np.allclose(module.f(x, n), _run(source, x, n))
        pulled = jax.grad(lambda x: (module.f(x, n) * w).sum())(x)
        moved = (_run(source, x + 1e-6 * d, n) - _run(source, x - 1e-6 * d, n)) / 2e-6
        assert np.allclose((np.asarray(pulled) * d).sum(), (moved * w).sum())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("size *= 2", "size *= int(x[0])"),  # the steps depend on data
        ("range(0, n, 2 * size)", "prange(0, n, size)"),  # a race: the blocks of a pass overlap
    ],
)
def test_other_passes_are_refused(old, new):
    source = "from numba import prange\n" + FUNCTIONS["butterflies"]
    assert old in source
    assert pipeline.translate(source.replace("range(0,", "prange(0,"), "k.py").text is not None
    assert pipeline.translate(source.replace(old, new), "k.py").text is None


def test_what_kernels_call_stays_a_function_of_theirs():
    kernel = "\n@cuda.jit\ndef g(x, n):\n    f(x, n)\n"
    done = pipeline.translate("from numba import cuda\n" + FUNCTIONS["butterflies"] + kernel, "k.py")
    assert done.text is None and "KR205" in {d.code for d in done.diagnostics}


STEPS = """
import math

def step(x, n, size):
    for start in range(0, n, 2 * size):
        for k in range(size):
            t = math.cos(k / size) * x[start + k + size]
            x[start + k + size] = x[start + k] - t
            x[start + k] = x[start + k] + t

def f(x, n):
    size = 1
    while size < n:
        step(x, n, size)
        size *= 2
"""


def test_a_pass_may_be_a_function():
    done = pipeline.translate(STEPS, "k.py")
    assert "fori_loop" not in done.text and "while_loop" not in done.text, done.text
    x = np.random.default_rng(0).normal(size=16).astype(np.float32)
    expected = x.copy()
    scope = {}
    exec(STEPS, scope)
    scope["f"](expected, 16)
    assert np.allclose(load_module(done.text).f(x, 16), expected, rtol=1e-4, atol=1e-5)


def test_complex_numbers_of_a_pass():
    source = """
import numpy as np

def f(x):
    n = x.shape[0]
    m = 2
    while m <= n:
        wm = np.exp(-2j * np.pi / m)
        for k in range(0, n, m):
            w = 1.0 + 0.0j
            for j in range(m // 2):
                t = w * x[k + j + m // 2]
                u = x[k + j]
                x[k + j] = u + t
                x[k + j + m // 2] = u - t
                w = w * wm
        m *= 2
"""
    done = pipeline.translate(source, "k.py")
    scope = {}
    exec(source, scope)
    rng = np.random.default_rng(0)
    x = (rng.normal(size=8) + 1j * rng.normal(size=8)).astype(np.complex64)
    expected = x.copy()
    scope["f"](expected)
    assert np.allclose(load_module(done.text).f(x), expected, rtol=1e-4, atol=1e-4)


ARRAYS = {
    "a product and a loop": (
        "    C = A @ B\n    for i in range(1, C.shape[0]):\n        C[i, 0] += C[i - 1, 1]\n    return C\n"
    ),
    "means of columns": (
        "    mu = np.mean(A, axis=0)\n    for i in range(A.shape[0]):\n"
        "        for j in range(A.shape[1]):\n            A[i, j] -= mu[j]\n"
    ),
    "what is changed is given back, too": (
        "    s = np.sum(A, axis=1)\n    for i in range(A.shape[0]):\n        A[i, 0] = s[i]\n    return s\n"
    ),
    "a copy": "    v = A.flatten()\n    for i in range(v.shape[0]):\n        v[i] = v[i] * i\n    return v\n",
    "rows": "    for i in range(A.shape[0]):\n        A[i] = A[i] / np.linalg.norm(A[i])\n    return A\n",
}
SHARED = {  # what a name is bound to changes, or changes it
    "a row": "    r = A[0, :]\n    C = A @ B\n    for i in range(A.shape[0]):\n        A[i, 1] += r[i]\n    return C\n",
    "a row of one subscript": (
        "    r = A[0]\n    C = A @ B\n    for i in range(A.shape[0]):\n        A[i, 1] = 1.0\n    return C @ r\n"
    ),
    "another shape": (
        "    v = A.reshape(-1)\n    for i in range(v.shape[0]):\n        v[i] = 2.0 * v[i]\n    return A @ B\n"
    ),
    "a transposition": ("    C = A.T\n    for i in range(A.shape[0]):\n        A[i, 0] = 1.0\n    return C @ B\n"),
    "rows that a loop runs over": "    C = A @ B\n    for r in A:\n        r[0] = 1.0\n    return C\n",
    "the array itself": "    C = A\n    for i in range(A.shape[0]):\n        C[i, 1] = 1.0 * i\n    return A @ B\n",
}


@pytest.mark.parametrize("name", ARRAYS)
def test_whole_arrays_beside_loops(name):
    source = f"import numpy as np\n\ndef f(A, B):\n{ARRAYS[name]}"
    done = pipeline.translate(source, "k.py")
    assert done.text is not None, done.diagnostics
    scope = {}
    exec(source, scope)

    def expected(A):
        A = A.copy()
        found = scope["f"](A, B)
        changed = "A[i" in ARRAYS[name] and found is not A
        return [x for x in (found, A if changed else None) if x is not None]

    with jax.enable_x64(True):
        f = load_module(done.text).f
        rng = np.random.default_rng(3)
        A, B, d = (rng.uniform(1.0, 2.0, (4, 4)) for _ in range(3))
        want, got = expected(A), jax.tree.leaves(f(A, B))
        assert len(want) == len(got)
        w = [rng.normal(size=x.shape) for x in want]
        for one, other in zip(got, want, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)
        pulled = jax.grad(lambda A: sum((x * v).sum() for x, v in zip(jax.tree.leaves(f(A, B)), w, strict=True)))(A)
        up, down = expected(A + 1e-6 * d), expected(A - 1e-6 * d)
        moved = sum(((x - y) * v).sum() for x, y, v in zip(up, down, w, strict=True)) / 2e-6
        np.testing.assert_allclose((np.asarray(pulled) * d).sum(), moved, rtol=1e-6)


@pytest.mark.parametrize("name", SHARED)
def test_names_that_share_memory_are_refused(name):
    done = pipeline.translate(f"import numpy as np\n\ndef f(A, B):\n{SHARED[name]}", "k.py", Options(only=("f",)))
    assert "f" not in done.raised and {d.code for d in done.diagnostics} & {"KR101", "KR211"}
