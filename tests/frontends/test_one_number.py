"""Parameters that expressions over parts of arrays take for numbers; rows that are changed in place and not read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees

TAKEN = """
import numpy as np

def helper(M, i, x):
    return (M[:, i] * x).sum()

def f(M, x, o, n):
    for i in range(n):
        {line}
"""
LINES = [
    "M[:, i] -= x",
    "M[:, i] = x",
    "o[i] = np.sum(M[:, i] * x)",
    "o[i] = helper(M, i, x)",
    "M[:, i] = np.where(M[:, i] > x, x, M[:, i])",
    "c = M[:, i]; c -= x",
    "y = 2.0 * x; M[:, i] *= y",
]


@pytest.mark.parametrize("line", LINES)
def test_what_is_taken_for_a_number_must_be_one(line):
    """With an array its elements would go along the other axis."""
    source = TAKEN.format(line=line)
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    function = load_module(done.text).f
    made: dict = {}
    exec(source, made)
    rng = np.random.default_rng(0)
    M, o = rng.normal(size=(3, 3)), rng.normal(size=3)
    mine, own = M.copy(), o.copy()
    made["f"](mine, 0.5, own, 3)
    got = function(M, 0.5, o, 3)
    np.testing.assert_allclose(got, own if line.startswith("o[") else mine, rtol=1e-5)
    with pytest.raises(ValueError, match="x must be a number"):
        function(M, np.ones(3), o, 3)
    weight = jnp.asarray(rng.normal(size=got.shape))
    gradient = jax.grad(lambda x: jnp.vdot(function(M, x, o, 3), weight))(0.5)
    step = 1e-2
    there, back = (np.vdot(function(M, 0.5 + s, o, 3), weight) for s in (step, -step))
    if "where" not in line:
        np.testing.assert_allclose(gradient, (there - back) / (2 * step), rtol=1e-2, atol=1e-3)
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (3, 3), "o": (3,)}, values={"n": 3}), line)


ALIGNED = """
import numpy as np

def f(x, w, o, n):
    o[:] = np.maximum(x, w)
    for i in range(n):
        x[i] *= 2.0
"""


def test_a_whole_array_that_is_assigned_once_takes_both():
    """There the axes of JAX align as those of NumPy; not where what is assigned is read again."""
    function = load_module(pipeline.translate(ALIGNED, "k.py", Options(only=("f",))).text).f
    x = np.array([1.0, -2.0, 3.0])
    for w in (0.5, np.array([2.0, 1.0, -1.0])):
        np.testing.assert_allclose(function(x, w, np.zeros(3), 3)[1], np.maximum(x, w))
    again = ALIGNED.replace("x[i] *= 2.0", "x[i] = x[i] * o[i]")
    function = load_module(pipeline.translate(again, "k.py", Options(only=("f",))).text).f
    with pytest.raises(ValueError, match="w must be a number"):
        function(x, x, x, 3)


def test_a_type_says_that_it_is_a_number():
    text = pipeline.translate("def f(M, x: float, n):\n    for i in range(n):\n        M[:, i] *= x\n", "k.py").text
    assert "ndim" not in text


ROW = """
def f(M, x, o, n):
    for i in range(n):
        {row}
        row *= 2.0
        o[i] = x[i]{more}
"""


def test_a_row_that_is_changed_and_not_read():
    """``M`` may have rows, and then they change; nothing says so."""
    for row in ("row = M[i]", "row = M[i + 1]"):
        done = pipeline.translate(ROW.format(row=row, more=""), "k.py", Options(only=("f",)))
        assert not done.raised and [d.code for d in done.diagnostics] == ["KR104"], done.text
    done = pipeline.translate(ROW.format(row="row = M[i]", more=" + row"), "k.py", Options(only=("f",)))
    assert "f" in done.raised
    whole = ROW.format(row="row = M[i]", more="").replace("row *=", "row[:] *=")
    function = load_module(pipeline.translate(whole, "k.py", Options(only=("f",))).text).f
    M = np.ones((2, 3))
    np.testing.assert_allclose(function(M, np.ones(2), np.zeros(2), 2)[0], 2 * M)


ADDED = """
import numpy as np

def f(o, M, n):
    for i in range(n):
        {line}
"""


@pytest.mark.parametrize("line", ["o[:] += M[i]", "o += M[i]", "v = M[i]; o[:] = o[:] + v", "o[:] = o[:] + 2 * M[i]"])
def test_an_element_may_be_a_row(line):
    """Rows that are added up became one number, which was added everywhere."""
    source = ADDED.format(line=line)
    if line == "o += M[i]":
        source += "        o[0] = 1.0\n"
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    function = load_module(done.text).f
    made: dict = {}
    exec(source, made)
    own, o = np.ones(3), np.ones(3)
    made["f"](own, np.arange(3.0), 3)
    np.testing.assert_allclose(function(o, np.arange(3.0), 3), own)
    with pytest.raises(ValueError, match="M must have 1 axis"):
        function(o, np.ones((3, 3)), 3)
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (3,), "o": (3,)}, values={"n": 3}), line)


CHANGED = """
import numpy as np

def f(M, w, o, n):
    t = np.zeros(M.shape[1])
    for i in range(n):
        d = M[i, :] - w[:]
        d /= 1.0 + (d * d).sum()
        t += d
    t *= 0.5
    for j in range(o.shape[0]):
        o[j] = t[j]
"""


def test_new_arrays_that_are_changed_in_place():
    """``d /= …`` binds no name: it was refused as a second array of one name."""
    done = pipeline.translate(CHANGED, "k.py", Options(only=("f",)))
    made: dict = {}
    exec(CHANGED, made)
    rng = np.random.default_rng(1)
    M, w, own = rng.normal(size=(4, 3)), rng.normal(size=3), np.zeros(3)
    made["f"](M, w, own, 4)
    np.testing.assert_allclose(load_module(done.text).f(M, w, np.zeros(3), 4), own, rtol=1e-5)
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (4, 3), "w": (3,), "o": (3,)}, values={"n": 4}))
    again = CHANGED.replace("d /= ", "d = d / ")
    assert not pipeline.translate(again, "k.py", Options(only=("f",))).raised
