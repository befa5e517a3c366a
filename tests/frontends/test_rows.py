"""Arrays whose elements are added up must not have rows; where Python asks for numbers by itself, nothing is asked."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.options import Options
from kraise.verify.load import load_module
from tests.checks import agrees

SUM = "    s = 0.0\n    for i in range(len(M)):\n        {}\n    return {}\n"
SUMMED = {
    "a sum": SUM.format("s += M[i]", "s"),
    "a mean": SUM.format("s += M[i]", "s / len(M)"),
    "squares": SUM.format("s = s + M[i] ** 2", "s ** 0.5"),
    "through a local": SUM.format("d = M[i] - 1.0; s += d * d", "s"),
    "a product of two": SUM.format("s += M[i] * w[i]", "s"),
    "running sums": "    for i in range(1, len(M)):\n        M[i] += M[i - 1]\n    return M\n",
    "a cell": "    for i in range(len(M)):\n        w[0] += M[i]\n    return w\n",
    "under another condition": SUM.format("if n > 2: s += M[i]", "s"),
}
ASKED = {
    "a branch": SUM.format("if M[i] > 0.0: s += M[i]", "s"),
    "a branch on the sum": SUM.format("s += M[i]", "s if s > 0.0 else 0.0"),
    "a function of numbers": SUM.format("s += math.exp(M[i])", "s"),
    "a root of the sum": SUM.format("s += M[i] ** 2", "math.sqrt(s)"),
    "an extremum": SUM.format("s = max(s, M[i])", "s"),
    "an array of numbers": (
        "    c = np.zeros(len(M))\n    s = 0.0\n"
        "    for i in range(len(M)):\n        s += M[i]\n        c[i] = s\n    return c\n"
    ),
    "no sum": "    for i in range(len(M)):\n        w[i] = 2.0 * M[i]\n    return w\n",
}

SEEN = {  # what a row would see
    "a difference to the first": "    r = M[0]\n    for i in range(len(M)):\n        M[i] = M[i] - r\n    return M\n",
    "an exchange": (
        "    for i in range(len(M) // 2):\n        t = M[i]\n"
        "        M[i] = M[len(M) - 1 - i]\n        M[len(M) - 1 - i] = t\n    return M\n"
    ),
    "a value of the last round": (
        "    p = M[0]\n    for i in range(1, len(M)):\n        c = M[i]\n"
        "        M[i] = c - p\n        p = c\n    return M\n"
    ),
    "a change in place": (
        "    for i in range(len(M)):\n        v = M[i]\n        v *= 2.0\n        w[i] = v\n    return w\n"
    ),
    "in a branch": "    r = M[0]\n    if n > 2:\n        M[0] = 2.0\n    w[0] = r\n    return w\n",
}
UNSEEN = {
    "one statement": "    for i in range(len(M)):\n        t = M[i]\n        M[i] = 2.0 * t\n    return M\n",
    "a new number": "    r = 1.0 * M[0]\n    for i in range(len(M)):\n        M[i] = M[i] - r\n    return M\n",
    "another array": "    r = M[0]\n    for i in range(len(M)):\n        w[i] = M[i] - r\n    return w\n",
    "compared": (
        "    for i in range(len(M) - 1):\n        t = M[i]\n"
        "        if t > 0.0:\n            M[i] = M[i + 1]\n            M[i + 1] = t\n    return M\n"
    ),
}


def _source(body: str) -> str:
    return f"import math\nimport numpy as np\n\ndef f(M, w, n):\n{body}"


@pytest.mark.parametrize("name", SEEN)
def test_rows_that_would_see_a_store(name):
    """``t = M[i]`` of a matrix is no copy in Python: such arrays are refused when the function is called."""
    done = pipeline.translate(_source(SEEN[name]), "k.py", Options(only=("f",)))
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (5,), "w": (5,)}, values={"n": 5}), name)
    with pytest.raises(ValueError, match="M must have 1 axis"):
        load_module(done.text).f(np.ones((4, 4)), np.ones(4), 4)


@pytest.mark.parametrize("name", UNSEEN)
def test_elements_that_no_store_is_seen_in(name):
    done = pipeline.translate(_source(UNSEEN[name]), "k.py", Options(only=("f",)))
    assert "ndim" not in done.text
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (5,), "w": (5,)}, values={"n": 5}), name)


@pytest.mark.parametrize("name", SUMMED)
def test_rows_are_not_added_up(name):
    """In Python rows would be added to rows; the sum of all elements is something else."""
    done = pipeline.translate(_source(SUMMED[name]), "k.py", Options(only=("f",)))
    f = load_module(done.text).f
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (5,), "w": (5,)}, values={"n": 5}), name)
    M, w = np.arange(1.0, 5.0), np.ones(4)
    made: dict = {}
    exec(_source(SUMMED[name]), made)
    np.testing.assert_allclose(jax.tree.leaves(f(M, w, 4))[0], made["f"](M.copy(), w.copy(), 4), rtol=1e-6)
    gradient = jax.grad(lambda M: jax.tree.leaves(f(M, w, 4))[0].sum())(M)
    assert np.isfinite(gradient).all() and np.any(gradient)
    with pytest.raises(ValueError, match=r"M(, w)? must have 1 axis"):
        f(np.ones((4, 4)), w, 4)


@pytest.mark.parametrize("name", ASKED)
def test_where_python_asks_nothing_is_asked(name):
    """Rows have no truth and no place in a cell; elements on their own axis keep theirs."""
    done = pipeline.translate(_source(ASKED[name]), "k.py", Options(only=("f",)))
    assert "axis (parts" not in done.text and "ndim" not in done.text
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (5,), "w": (5,)}, values={"n": 5}), name)


MEANS = {  # with ``a``: a number that every element meets
    "squares of distances": SUM.format("s += (M[i] - a) ** 2", "s / len(M)"),
    "a polynomial": "    s = 0.0\n    p = 1.0\n    for i in range(len(M)):\n        s += M[i] * p\n        p *= a\n"
    "    return s\n",
    "of a function": SUM.format("s += np.exp(-a * i) * M[i]", "s"),
    "a part of the sum": SUM.format("s += a * M[i] + w[i]", "s"),
    "through a local": SUM.format("d = M[i] - a; s += d * d", "s"),
    "running sums": "    for i in range(1, len(M)):\n        M[i] = M[i - 1] + a * M[i]\n    return M[-1]\n",
    "a product": "    s = 1.0\n    for i in range(len(M)):\n        s *= a + M[i]\n    return s\n",
}
FACTORS = {  # it stands before the sum, be it an array
    "a factor": SUM.format("s += a * M[i]", "s"),
    "a divisor": SUM.format("s += M[i] / a", "s"),
    "a factor of squares": SUM.format("s -= M[i] * a * M[i]", "s"),
    "of the sum": SUM.format("s += M[i]", "s * a"),
}


@pytest.mark.parametrize("name", MEANS)
def test_a_number_in_a_sum_is_no_array(name):
    source = _source(MEANS[name]).replace("f(M, w, n)", "f(M, w, a)")
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (5,), "w": (5,)}, values={"a": 0.75}), name)
    f, M = load_module(done.text).f, np.arange(1.0, 5.0)
    for a in (np.ones(4), np.ones(1)):
        with pytest.raises(ValueError, match="f: a must be a number"):
            f(M, np.ones(4), a)


@pytest.mark.parametrize("name", FACTORS)
def test_a_factor_of_a_sum_may_be_an_array(name):
    source = _source(FACTORS[name]).replace("f(M, w, n)", "f(M, w, a)")
    done = pipeline.translate(source, "k.py", Options(only=("f",)))
    agrees(done, pipeline.Request(gradients=True, shapes={"M": (5,), "w": (5,)}, values={"a": 0.75}), name)
    M, w, a, made = np.arange(1.0, 5.0), np.ones(4), np.array([2.0, 3.0, -1.0, 0.5]), {}
    exec(source, made)
    np.testing.assert_allclose(load_module(done.text).f(M, w, a), made["f"](M, w, a), rtol=1e-6)


def test_compiled_functions_have_numbers_by_their_types():
    source = "from numba import njit\n@njit\n" + _source(SUMMED["a sum"]).replace(
        "import math\nimport numpy as np\n", ""
    )
    assert "ndim" not in pipeline.translate(source, "k.py", Options(only=("f",))).text


def test_what_has_too_few_axes_is_told_so_before_its_extents_are_asked_for():
    """A condition as a subscript is a mask: of rows. Of an element, NumPy's means all of the array."""
    text = pipeline.translate("def f(x, count, n):\n for i in range(n):\n  count[x[i] > 0] += 1", "k.py").text
    f = load_module(text).f
    with pytest.raises(ValueError, match="x must have 2 axes"):
        f(np.ones(5), np.zeros(2, int), 5)
    np.testing.assert_array_equal(f(np.eye(2) - 0.5, np.zeros(2, int), 2), [1, 1])
