"""Stores under a mask, numbers within array expressions, rows of one matrix, stencils, functions that give arrays."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module

FUNCTIONS = {
    "masks": (
        """
import numpy as np
def f(a, b):
    m = (a > 0.2) & (b[:] > -1.0)
    out = np.zeros_like(a)
    out[m] = np.sqrt(a[m]) + 1.0 / a[m]
    out[~m] = b[~m]
    a[b < 0] *= 2.0
    a[np.abs(a) > 1.5 * np.mean(a)] = np.max(b)
    return out, a
""",
        ((7,), (7,)),
    ),
    "rows under a mask of two axes": (
        """
def f(a):
    for t in range(2):
        a[a > 1.0 + t] = 0.5
        for i in range(1, a.shape[0]):
            a[i, 0] = 0.5 * (a[i, 0] + a[i - 1, 0])
    return a
""",
        ((4, 3),),
    ),
    "a row under a mask": (
        """
def f(u, w):
    left = w > 0.0
    for i in range(u.shape[0]):
        u[i, left] = 0.5 * i
        m = (w > -1.0) & (u[i] > -0.5)
        u[i, m] = u[i, m] * w[m]
        u[i, u[i] > 0.5] -= 1.0
    return u
""",
        ((3, 4), (4,)),
    ),
    "dots before the last axis": (
        """
import numpy as np
def f(a, w):
    n, m, c = a.shape
    out = np.zeros((n, m))
    for k in range(c):
        a[..., k] = a[..., c - 1 - k] * w[k]
        out[...] += a[..., k]
    return a, out
""",
        ((2, 4, 3), (3,)),
    ),
    "spread": (
        """
import numpy as np
def f(a, b):
    a[:] = (a - np.mean(a)) / a.std(ddof=1)
    s = 0.0
    for i in range(a.shape[0]):
        s += a[i] * np.var(b[:] - a[i])
    return s, a
""",
        ((5,), (4,)),
    ),
    "elimination by rows": (
        """
def f(A):
    n = A.shape[0]
    for i in range(n):
        A[i, i] += 9.0
    for k in range(n - 1):
        for i in range(k + 1, n):
            A[i, k:] -= A[i, k] / A[k, k] * A[k, k:]
    return A
""",
        ((4, 4),),
    ),
    "a row that its own first cell scales": (
        """
def f(A):
    for k in range(A.shape[0]):
        for i in range(A.shape[0]):
            A[i, k:] += 0.1 * A[i, k] * A[k, k:]
    return A
""",
        ((3, 3),),
    ),
    "an array made anew and changed in place": (
        """
import numpy as np
def f(w):
    r = np.ones(len(w)) / 4
    for t in range(3):
        new = np.full(len(w), 0.1)
        for i in range(len(w)):
            new[i] += w[i] * r[len(w) - 1 - i]
        new += 0.5 * r[0]
        r = new
    return r
""",
        ((5,),),
    ),
    "whole arrays by what is called": (
        """
import numpy as np
def f(M):
    v = M.ravel()
    s = np.median(v)
    for i in range(v.shape[0] - 1):
        s += (v[i + 1] - v[i]) ** 2
    return s
""",
        ((3, 3),),
    ),
    "dots": (
        """
def f(A, B):
    for i in range(A.shape[0]):
        B[i, ...] = A[i, ...] * B[0, 1]
    A[...] = B + 1.0
    return A, B
""",
        ((3, 4), (3, 4)),
    ),
    "functions that give arrays": (
        """
import numpy as np
def forces(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(x)):
            if i != j:
                out[i] += (x[j] - x[i]) / (1.0 + (x[j] - x[i]) ** 2)
    return out
def dot(a, b):
    s = 0.0
    for i in range(len(a)):
        s += a[i] * b[i]
    return s
def f(x, v):
    for t in range(3):
        k1 = forces(x)
        k2 = forces(x + 0.05 * k1)
        v = v + 0.05 * (k1 + k2)
        x = x + 0.1 * v
    return x, dot(v, v)
""",
        ((4,), (4,)),
    ),
}


def _made(source):
    scope = {}
    exec(source, scope)
    return scope["f"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_and_gradients(name):
    source, shapes = FUNCTIONS[name]
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    assert "f" in done.raised, [(d.code, d.reason) for d in done.diagnostics]
    with jax.enable_x64(True):
        raised, original = load_module(done.text).f, _made(source)
        rng = np.random.default_rng(1)
        given, ways = ([rng.normal(size=s) for s in shapes] for _ in range(2))

        def weighed(f, values):
            found = f(*values)
            found = found if isinstance(found, tuple) else (found,)
            return sum((r * np.cos(1.0 + np.arange(np.size(r)).reshape(np.shape(r)))).sum() for r in found)

        copies = [x.copy() for x in given]
        for a, b in zip(jax.tree.leaves(raised(*given)), jax.tree.leaves(original(*copies)), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
        pulled = jax.grad(lambda v: weighed(raised, v))(given)
        moved = [[x + s * 1e-6 * d for x, d in zip(given, ways, strict=True)] for s in (1, -1)]
        slope = (weighed(original, moved[0]) - weighed(original, moved[1])) / 2e-6
        np.testing.assert_allclose(sum((g * d).sum() for g, d in zip(pulled, ways, strict=True)), slope, rtol=1e-5)


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    a[1:][a[:-1] > 0] = 0.0\n",  # the mask sees what is stored
        "def f(a, b):\n    for i in range(3):\n        a[..., i] = b[i, ..., 0]\n",
        "def f(a, b):\n    for i in range(3):\n        a[i, ...] = b[..., i]\n",
        "def f(u, w):\n    for j in range(u.shape[1]):\n        u[w > 0.0, j] = 1.0\n",
        "def f(a, b):\n    a[a > 0] = b[:]\n",  # as many elements as the mask says, from the first on
        "def f(a, b):\n    a[a > 0] = b[b > 0]\n",
        "import numpy as np\ndef f(A):\n    a = A[:, :]\n    m = A[0] > 0\n    a[m] = 0.0\n",  # whole rows
        # what a function gives is part of what its caller changes
        "import numpy as np\ndef g(A):\n    return A[0]\ndef f(A, b):\n    y = g(A)\n    w = A @ b\n"
        "    for i in range(A.shape[1]):\n        A[0, i] = 0.5 * i\n    return y + 1.0, w\n",
        # a function that changes what it is given, for its value
        "import numpy as np\ndef g(a):\n    b = np.zeros(3)\n    for i in range(3):\n        b[i] = a[i]\n"
        "        a[i] = 0.0\n    return b\ndef f(x):\n    y = g(x[1:]) + g(x)\n    return y\n",
    ],
)
def test_refused(source):
    assert "f" not in pipeline.translate(source, "k.py", Options(only=("f",))).raised


STENCIL = """
from numba import stencil
@stencil
def f(a, w):
    \"\"\"Four neighbours.\"\"\"
    mean = a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]
    return w * mean - a[0, 0]
"""


def test_a_stencil_is_relative():
    done = pipeline.translate(STENCIL, "k.py")
    a = np.random.default_rng(0).normal(size=(5, 4)).astype(np.float32)
    expected = np.zeros_like(a)
    for i in range(1, 4):
        for j in range(1, 3):
            expected[i, j] = 0.25 * (a[i, j + 1] + a[i + 1, j] + a[i, j - 1] + a[i - 1, j]) - a[i, j]
    f = load_module(done.text).f
    np.testing.assert_allclose(f(a, 0.25), expected, rtol=1e-5, atol=1e-6)
    assert np.isclose(jax.grad(lambda w: f(a, w).sum())(0.25), 4 * (expected + a)[1:-1, 1:-1].sum(), rtol=1e-4)
    ahead = STENCIL.replace("@stencil", "@stencil(neighborhood=((-2, 0),), cval=1.5)").replace(
        "a[0, 1] + a[1, 0] + a[0, -1] + a[-1, 0]", "a[-2] + a[-1]"
    )
    found = load_module(pipeline.translate(ahead.replace("a[0, 0]", "a[0]"), "k.py").text).f(a[:, 0], 2.0)
    np.testing.assert_allclose(found[:2], 1.5)
    np.testing.assert_allclose(found[2:], 2 * (a[:-2, 0] + a[1:-1, 0]) - a[2:, 0], rtol=1e-5)


@pytest.mark.parametrize(
    ("old", "new"), [("a[-1, 0]", "a[-1, w]"), ("a[-1, 0]", "a.sum()"), ("@stencil", "@stencil(func_or_mode=1)")]
)
def test_other_stencils_are_refused(old, new):
    done = pipeline.translate(STENCIL.replace(old, new), "k.py")
    assert done.text is None or "f" not in done.raised
