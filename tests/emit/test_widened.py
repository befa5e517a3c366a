"""Bytes in kernels of numba: sums and comparisons are those of whole numbers."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify import interpreter
from kraise.verify.load import load_module

HEAD = "from numba import cuda, njit\n@cuda.jit\ndef f({}):\n i = cuda.grid(1)\n if i < n:\n  "
BODIES = {
    "brighter": ("x, y, n, k", "v = x[i] + k\n  if v > 255:\n   v = 255\n  y[i] = v"),
    "mean": ("x, z, y, n", "y[i] = (x[i] + z[i]) // 2"),
    "threshold": ("x, y, n, k", "y[i] = 255 if x[i] < k else 0"),
    "in place": ("x, n, k", "x[i] = min(x[i] + k, 255)"),
    "sums": ("x, y, n", "s = 0\n  for j in range(-1, 2):\n   s += x[(i + j) % n]\n  y[i] = s // 3"),
}
FLOATS = {
    "a difference": ("x, y, n, k", "y[i] = (x[i] - x[0]) * k"),
    "weights": ("x, y, n", "y[i] = min(0.3 * x[i] + 0.6 * x[0], 255.0)"),
    "flags": ("x, y, n", "y[i] = 255 if x[i] > 100 else 0"),
}


@pytest.mark.parametrize("name", BODIES)
def test_bytes(name):
    parameters, body = BODIES[name]
    done = pipeline.translate(HEAD.format(parameters) + body, "k.py")
    assert "= widened(" in done.text, done.text
    x = np.array([0, 3, 130, 200, 255], "uint8")
    values = {"x": x, "z": x[::-1].copy(), "y": np.zeros(5, "uint8"), "n": 5, "k": 300 if name == "threshold" else 90}
    own = {p: values[p] for p in parameters.split(", ")}
    expected = interpreter.run(done.source, "f", own, grid=(1, 1, 1), block=(8, 1, 1)).arrays
    got = load_module(done.text).f(**own)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, expected["x" if name == "in place" else "y"])
    floats = {p: v.astype("float32") if isinstance(v, np.ndarray) else v for p, v in own.items()}
    assert load_module(done.text).f(**floats).dtype == np.float32


@pytest.mark.parametrize("name", FLOATS)
def test_what_says_nothing_of_integers_stays(name):
    parameters, body = FLOATS[name]
    assert "widened" not in pipeline.translate(HEAD.format(parameters) + body, "k.py").text


NUMBERS = """
from numba import njit
@njit
def f(out, y):
    for l in range(out.shape[0]):
        out[l] = y[l] // 2 + y[0] * y[l]
    for l in range(out.shape[0]):
        for k in range(1, len(y), 2):
            out[l] += float(1)
            out[max(l - 1, 0)] = y[k] + out[k % out.shape[0]]
"""


def test_a_number_beside_widened_arrays_takes_the_type_of_the_array():
    done = pipeline.translate(NUMBERS, "k.py")
    assert "= widened(" in done.text
    own = {"out": np.zeros(5, "float32"), "y": np.linspace(1, 3, 5, dtype="float32")}
    expected = interpreter.run(done.source, "f", own).arrays["out"]
    np.testing.assert_allclose(load_module(done.text).f(**own), expected, rtol=1e-5)


def test_the_interpreter_computes_as_numba_does():
    source = HEAD.format("x, y, n") + "y[i] = x[i] + 200"
    done = pipeline.translate(source, "k.py")
    own = {"x": np.array([100], "uint8"), "y": np.zeros(1), "n": 1}
    assert interpreter.run(done.source, "f", own, grid=(1, 1, 1), block=(1, 1, 1)).arrays["y"][0] == 300
    plain = pipeline.translate("def f(x, y):\n for i in range(len(y)):\n  y[i] = x[i] + x[i]", "k.py")
    own = {"x": np.array([200], "uint8"), "y": np.zeros(1)}
    with np.errstate(over="ignore"):
        assert interpreter.run(plain.source, "f", own).arrays["y"][0] == 144


BOTH = """
from numba import njit

@njit
def f(out, x, n):
    for _ in range(2):
        for j in range(out.shape[0]):
            out[j] += 2.0
        for j in range(out.shape[0]):
            if (x[max(j - 1, 0)] >> 1) == min(x[n - 1], j):
                continue
            out[j] += (out[j] if out[j] <= out[j] + x[0] else out[j])
"""


def test_a_number_is_added_to_all_of_a_widened_array():
    """``(2.0).astype(…)`` is no Python."""
    text = pipeline.translate(BOTH, "k.py").text
    assert text is not None and "= widened(" in text
    found = load_module(text).f(np.array([1, 2, 3], "uint8"), np.array([4, 1, 7], "uint8"), 3)
    assert found.dtype == np.uint8 and found.tolist() == [16, 20, 24]


COMPARED = """
from numba import njit

@njit
def f(out, y, x, n):
    for j in range(n):
        out[j] = 0.25 + 0.5 < 1.0
    for j in range(n):
        y[j] = (x[j] + x[max(j - 1, 0)]) // 2
"""


def test_numbers_that_are_compared_are_stored_in_the_arrays_type():
    """``(0.75 < 1.0).astype(…)`` is no Python."""
    text = pipeline.translate(COMPARED, "k.py").text
    assert text is not None and "widened(" in text
    ones, half = load_module(text).f(np.zeros(4, "uint8"), np.zeros(3, "uint8"), np.array([200, 100, 2], "uint8"), 3)
    assert ones.tolist() == [1, 1, 1, 0] and half.tolist() == [200, 150, 51] and half.dtype == np.uint8
