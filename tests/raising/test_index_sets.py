"""Index-set splitting: what a store does at the edges of its domain, in stores of their own; at every small size."""

import pytest

from kraise import pipeline
from tests.checks import agrees

HEAD = (
    "__global__ void f(const float *u, const int *m, float *y, int n, float c) { "
    "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; "
)
SPLIT = {
    "kept at both ends": ("if (i == 0 || i == n - 1) y[i] = u[i]; else y[i] = u[i - 1] + u[i + 1];", 2),
    "the interior first": ("if (i > 0 && i < n - 1) y[i] = u[i - 1] * u[i + 1]; else y[i] = u[i];", 2),
    "a number at the ends": ("y[i] = (i < 1 || i > n - 2) ? c : u[i - 1] * c + u[i + 1];", 2),
    "one end": ("if (i == 0) y[i] = u[0] / c; else y[i] = u[i] - u[i - 1] * c;", 2),
    "three functions": (
        "float d; if (i == 0) d = u[1] - u[0]; else if (i == n - 1) d = u[i] - u[i - 1]; else d = u[i + 1] - u[i - 1]; "
        "y[i] = d * c;",
        1,  # the ends and what is between them, put together
    ),
    "functions at both ends": ("if (i > 0 && i < n - 1) y[i] = u[i - 1] * u[i + 1]; else y[i] = u[i] * u[i];", 3),
    "two at each end": ("if (i < 2 || i >= n - 2) y[i] = -u[i]; else y[i] = u[i - 2] + c * u[i + 2];", 2),
    "two at one end": ("if (i < 2) y[i] = u[i + 1] * c; else y[i] = u[i] * u[i - 2];", 2),
    "the next one, too": (
        "if (i == 0) y[i] = c; else if (i == 1) y[i] = u[0] * c; else y[i] = u[i - 2] * c + u[i];",
        3,
    ),
    "an end or a mask": ("if (i == 0 || m[i] > 0) y[i] = u[i]; else y[i] = u[i - 1] * u[i];", 2),
    "inside and a mask": ("if (i > 0 && i < n - 1 && m[i]) y[i] = u[i - 1] + u[i + 1]; else y[i] = u[i] * c;", 3),
    "an end, then the other one or a mask": (
        "if (i > 0 && i < n - 1) y[i] = u[i - 1] * u[i + 1]; else if (i == n - 1 || m[i] > 0) y[i] = u[i] * c; "
        "else y[i] = u[i] * u[i];",
        3,
    ),
    "an end of an end and a mask": (
        "float s = 0.0f; if (i > 0 && i < n - 1 && u[i] > c) s = u[i - 1] * u[i + 1]; "
        "else if (i == n - 1 || m[i] > 0) s = u[i] * c; y[i] = s;",
        3,
    ),
    "only the ends": ("if (i == 0 || i == n - 1) y[i] = c;", 2),
    "what is there is kept": ("if (i > 0) y[i] = y[i] + u[i - 1] * c; else y[i] = y[i] * c;", 2),
}
ONE = {
    "no load leaves": "y[i] = (i == 0 || i == n - 1) ? -u[i] : u[i] * c;",
    "a padded array": "float a = i > 0 ? u[i - 1] : 0.0f; y[i] = a + u[i];",
    "a term more": "float a = u[i] * c; if (i > 0) a += u[i - 1] * u[i]; y[i] = a;",
    "a place in the middle": "y[i] = i == 3 ? u[0] * c : u[i] * u[n - 1 - i];",
    "data": "if (m[i] > 0) y[i] = c; else y[i] = u[i] * c;",
}
ROLLS = {
    "the last one first": ("y[i] = u[i] - (i == 0 ? u[n - 1] : u[i - 1]);", "jnp.roll(u[:n], 1)"),
    "the first one last": ("y[i] = u[i] - (i < n - 1 ? u[i + 1] : u[0]);", "jnp.roll(u[:n], -1)"),
    "as a place": ("int k = i == n - 1 ? 0 : i + 1; y[i] = u[k] - u[i];", "jnp.roll(u[:n], -1)"),
}
NO_ROLLS = {
    "another end": "y[i] = u[i] - (i == 0 ? u[n - 2] : u[i - 1]);",
    "twice the first": "y[i] = u[i] - (i < n - 1 ? u[i + 1] : u[1]);",
    "two places": "y[i] = i < n - 2 ? u[i + 2] : u[0];",
}


def _checked(body, sizes=(1, 2, 3, 4, 7)):
    done = pipeline.translate(HEAD + body + " }", "f.cu")
    assert done.text and not done.diagnostics, done.diagnostics
    for n in sizes:
        size = n + 4  # what a branch reads that a short domain has not
        shapes = {"u": (size,), "m": (size,), "y": (size,)}
        request = pipeline.Request(shapes=shapes, values={"n": n}, gradients=n == sizes[-1])
        agrees(done, request, n, done.text)
    return done.text


@pytest.mark.parametrize("name", SPLIT)
@pytest.mark.long_cases("the next one, too", "two at one end", "inside and a mask", "the other one or a mask")
def test_apart(name):
    body, stores = SPLIT[name]
    text = _checked(body)
    assert text.count(".at[") == stores, text
    assert "pad(" not in text or "mask" in name, text  # what only a mask protects may not be there


@pytest.mark.parametrize("name", ONE)
def test_one_store(name):
    text = _checked(ONE[name], (4, 7))
    assert text.count("y.at[") == 1, text


@pytest.mark.parametrize("name", ROLLS)
def test_around(name):
    body, form = ROLLS[name]
    text = _checked(body)
    assert form in text and "where" not in text, text


@pytest.mark.parametrize("name", NO_ROLLS)
def test_not_around(name):
    assert "roll" not in _checked(NO_ROLLS[name], (4, 7))


def test_nothing_is_stored_where_there_is_nothing():
    import numpy as np

    done = pipeline.translate(HEAD + "if (i == 0 || i == n - 1) y[i] = c; }", "f.cu")
    space: dict = {}
    exec(done.text, space)  # noqa: S102
    y = np.ones(3, np.float32)
    assert np.array_equal(space["f"](y, y.astype(int), y, 0, 2.0), y)


ROWS = """
from numba import cuda
@cuda.jit
def f(u, y):
    i, j = cuda.grid(2)
    n, m = u.shape
    if i < n and j < m:
        {body}
"""
RIM = "if i == 0 or j == 0 or i == n - 1 or j == m - 1:"
CORNERS = {
    "kept": (RIM, "y[i, j] = u[i, j]", "else:", "y[i, j] = u[i - 1, j] * u[i + 1, j] + u[i, j - 1] * u[i, j + 1]"),
    "rows before columns": (
        *("if i == 0:", "y[i, j] = u[1, j] * 2", "elif j == m - 1:", "y[i, j] = u[i, j - 1] * 3"),
        *("else:", "y[i, j] = u[i - 1, j + 1] * u[i, j]"),
    ),
    "the frame alone": (RIM, "y[i, j] = u[i, j] * 2.0"),
}


@pytest.mark.parametrize("name", CORNERS)
@pytest.mark.parametrize("shape", [(2, 2), (2, 5), (4, 3)])
def test_corners(name, shape):
    body = "\n        ".join(("" if line.endswith(":") else "    ") + line for line in CORNERS[name])
    done = pipeline.translate(ROWS.format(body=body), "f.py")
    assert done.text and not done.diagnostics and "where(" not in done.text and "pad(" not in done.text, done
    request = pipeline.Request(shapes={"u": shape, "y": shape}, gradients=shape == (4, 3))
    agrees(done, request, done.text)
