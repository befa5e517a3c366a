"""Loads at a border: masks that say where an array ends become slices of a padded array, clamps its repeated edge.

Each text is checked for its form, and its values and derivatives at sizes down to none against the interpreter.
"""

import jax.numpy as jnp
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from tests.checks import agrees

MASKED = {
    "zero beyond the left end": ("x[i - 1] if i > 0 else 0.0", "jnp.pad(x[: max(n - 1, 0)], (1, 0))"),
    "both ends": ("(x[i - 1] if i > 0 else 0.0) - (x[i + 1] if i < n - 1 else 0.0)", "x_padded[2:]"),
    "two steps": ("x[i + 2] if i + 2 < n else 0.0", "jnp.pad(x[:n], (0, 2))[2:]"),
    "a factor": ("w[0] * (x[i - 1] if i >= 1 else 0.0) + x[i]", "w[0] * jnp.pad(x["),
    "edge, left": ("x[i - 1] if i > 0 else x[i]", 'mode="edge"'),
    "edge, right": ("x[i] if i == n - 1 else x[i + 1]", 'mode="edge"'),
    "edge by clamps": ("x[max(i - 1, 0)] * x[min(i + 1, n - 1)]", 'mode="edge"'),
}


def _report(source, shapes, values, name="k.py"):
    done = pipeline.translate(source, name)
    assert not done.diagnostics, done.diagnostics
    agrees(done, pipeline.Request(shapes=shapes, values=values))
    return done.text


@pytest.mark.parametrize("name", MASKED)
def test_a_mask_at_the_border_is_a_padded_slice(name):
    value, form = MASKED[name]
    source = f"def k(x, w, y, n):\n    for i in range(n):\n        y[i] = {value}\n"
    for n in (7, 3, 2, 1):
        text = _report(source, {"x": (n,), "w": (2,), "y": (n,)}, {"n": n})
    assert form in text and "where(" not in text and "clip" not in text and "arange" not in text, text


@pytest.mark.parametrize(
    "value",
    [
        "1.0 if (i == 0 or x[i - 1] < x[i]) and (i == n - 1 or x[i + 1] <= x[i]) else 0.0",
    ],
)
def test_what_stands_behind_an_end_is_a_padded_slice(value):
    source = f"def k(x, y, n):\n    for i in range(n):\n        y[i] = {value}\n"
    for n in (7, 3, 2, 1):
        text = _report(source, {"x": (n,), "y": (n,)}, {"n": n})
    assert "jnp.pad(" in text and "clip" not in text, text
    assert "x_padded" not in text  # only compared: each neighbour has a pad of its own


def test_an_end_of_another_range_says_nothing():
    value = "x[i - 2] if i != 2 and x[i] > 0 and i > 1 else x[i]"
    source = f"def k(x, y, n):\n    for i in range(1, n):\n        y[i] = {value}\n"
    for n in (7, 3, 2):
        _report(source, {"x": (n,), "y": (n,)}, {"n": n})


def test_an_empty_array_has_no_border():
    source = "def k(x, y, n):\n    for i in range(n):\n        y[i] = x[i - 1] if i > 0 else 0.0\n"
    namespace = {}
    exec(pipeline.translate(source, "k.py").text, namespace)
    assert namespace["k"](np.zeros(0, np.float32), np.zeros(3, np.float32), 0).tolist() == [0, 0, 0]


def test_an_addition_behind_a_mask():
    source = """
def k(x, y, n):
    for i in range(n):
        s = 2.0 * x[i]
        if i > 0:
            s += x[i - 1]
        if i < n - 1:
            s -= x[i + 1]
        y[i] = s
"""
    text = _report(source, {"x": (6,), "y": (6,)}, {"n": 6})
    assert "where(" not in text and "x_padded" in text


def test_a_window_of_a_size_that_is_a_parameter():
    source = """
def k(x, w, y):
    h = w.shape[0] // 2
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(w.shape[0]):
            p = i + j - h
            if p >= 0 and p < x.shape[0]:
                s += w[j] * x[p]
        y[i] = s
"""
    for n, m in ((9, 3), (4, 5), (6, 4), (3, 1)):
        text = _report(source, {"x": (n,), "w": (m,), "y": (n,)}, {})
    assert "jnp.pad(x" in text and "where(" not in text


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = x[i - 1] if i > 1 else 0.0",  # x[0] is left out, too
        "y[i] = x[i - 1] if flag[i] > 0 and i > 0 else 0.0",
        "y[i] = x[i + 1] if i < m and i < n - 1 else 0.0",
        "y[i] = x[i - 1] if i > 0 else 1.0",
        "y[i] = x[i] if i == 1 else x[i - 1] if i > 0 else 0.0",
    ],
)
def test_a_mask_that_says_more_stays(body):
    source = f"def k(x, v, flag, y, n, m):\n    for i in range(n):\n        {body}\n"
    text = _report(source, {"x": (8,), "v": (8,), "flag": (8,), "y": (8,)}, {"n": 7, "m": 4})
    assert "where(" in text


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = x[i - 1] + 1.0 if i > 0 else 0.0",
        "y[i] = 1.0 / x[i - 1] if i > 0 else 0.0",
        "y[i] = v[i] * x[i - 1] if i > 0 else 0.0",  # v[0] may be anything
        "y[i] = x[i - 1] if i > 0 else x[0] * 2.0",
        "y[i] = x[i - 1] * x[i] if i != 0 else 3.0",
    ],
)
def test_what_computes_at_a_border_is_a_store_of_its_own(body):
    text = _report(
        f"def k(x, v, y, n):\n    for i in range(n):\n        {body}\n", dict.fromkeys("xvy", (8,)), {"n": 7}
    )
    assert "where(" not in text and "pad(" not in text


def test_what_a_mask_keeps_away_is_not_multiplied():
    source = "def k(x, v, y, n):\n    for i in range(n):\n        y[i] = v[i] * x[i - 1] if i > 0 else 0.0\n"
    namespace = {}
    exec(pipeline.translate(source, "k.py").text, namespace)
    v = np.array([np.nan, 1, 2], np.float32)
    assert namespace["k"](np.ones(3, np.float32), v, np.zeros(3, np.float32), 3).tolist() == [0, 1, 2]


def test_an_array_that_data_keep_from_its_end():
    """The last flag is off: the source never reads x[n]."""
    source = "def k(x, flag, y, n):\n    for i in range(n):\n        if flag[i] > 0:\n            y[i] = x[i + 1]\n"
    namespace = {}
    exec(pipeline.translate(source, "k.py").text, namespace)
    x, flag = np.arange(4, dtype=np.float32), np.array([1, 1, 1, 0], np.float32)
    assert namespace["k"](x, flag, np.zeros(4, np.float32), 4).tolist() == [1, 2, 3, 0]


FLAT = """
__global__ void step(const float *u, float *v, int nx, int ny) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= nx || y >= ny) return;
    VALUE
}
"""
STEPS = {
    "zeros around": (
        "float w = x > 0 ? u[y * nx + x - 1] : 0.f, s = y < ny - 1 ? u[(y + 1) * nx + x] : 0.f; v[y * nx + x] = w - s;",
        "u_padded",
    ),
    "clamped": ("v[y * nx + x] = u[max(y - 1, 0) * nx + min(x + 1, nx - 1)];", 'mode="edge"'),
    "wrapped": ("v[y * nx + x] = u[((y + 1) % ny) * nx + (x - 1 + nx) % nx];", "jnp.roll"),
    "edge by choice": (
        "int n = y == 0 ? 0 : y - 1, e = x == nx - 1 ? nx - 1 : x + 1; v[y * nx + x] = u[n * nx + x] * u[y * nx + e];",
        'mode="edge"',
    ),
    "interior": (
        "if (x > 0 && y > 0 && x < nx - 1 && y < ny - 1) v[y * nx + x] = u[y * nx + x + 1];",
        ".at[1:-1, 1:-1]",
    ),
}


@pytest.mark.parametrize("name", STEPS)
def test_borders_of_flat_arrays(name):
    value, form = STEPS[name]
    source = FLAT.replace("VALUE", value)
    for nx, ny in ((5, 4), (3, 3), (1, 2)):
        shapes = {"u": (nx * ny,), "v": (nx * ny,)}
        text = _report(source, shapes, {"nx": nx, "ny": ny}, "k.cu")
    assert form in text and "clip" not in text and "resize" not in text and "arange" not in text, text


def test_a_parameter_named_rows_is_a_size_like_others():
    source = FLAT.replace("VALUE", "v[y * nx + x] = u[max(y - 1, 0) * nx + x] - u[y * nx + x];").replace("ny", "rows")
    text = _report(source, {"u": (12,), "v": (12,)}, {"nx": 4, "rows": 3}, "k.cu")
    assert "reshape(rows, nx)" in text


def test_a_wrapped_store_is_no_race():
    source = """
from numba import cuda
@cuda.jit
def shift(f, g, n):
    i = cuda.grid(1)
    if i < n:
        f[(i + 1) % n] = g[i]
"""
    _report(source, {"f": (7,), "g": (7,)}, {"n": 7})
    done = pipeline.translate(source.replace("% n", "% m").replace("g, n", "g, n, m"), "k.py")
    assert [d.code for d in done.diagnostics] == ["KR201"]


def test_a_width_that_may_be_negative_is_no_padding():
    """Row m - 1 behind a mask of data: its place is no rim of n - m * n zeros (found by fuzzing, seed 701175)."""
    body = "if (i < n) y[i] = y[i] > 0.0f || x[(m - 1) * n + i] > 0.0f ? 1.0f : 2.0f;"
    head = "__global__ void k(const float *x, float *y, int n, int m) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
    done = pipeline.translate(head + body + "}", "k.cu")
    assert done.text and not done.diagnostics
    module = load_module(done.text)
    for m in (1, 2, 3):
        x = np.random.default_rng(m).normal(size=(m, 4)).astype(np.float32)
        y = np.asarray([1, -1, -1, 1], np.float32)
        expected = np.where((y > 0) | (x[m - 1] > 0), 1, 2)
        np.testing.assert_array_equal(module.k(jnp.asarray(x.ravel()), jnp.asarray(y), 4, m), expected)


SHIFTED = """
__global__ void f(const float *x, float *y, int off, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) { int j = i + off; y[i] = j >= 0 && j < LIMIT ? x[j] : FILL; }
}
"""


@pytest.mark.parametrize("limit, fill", [("n", "0.0f"), ("m", "-1.0f")])
def test_an_offset_that_the_source_asks_about_may_be_negative(limit, fill):
    done = pipeline.translate(SHIFTED.replace("LIMIT", limit).replace("FILL", fill), "k.cu")
    assert done.text and "jnp.pad" in done.text and "arange" not in done.text, done.text
    f, x = load_module(done.text).f, np.arange(1, 10, dtype=np.float32)
    for off in (-9, -7, -2, 0, 1, 7, 9):
        for m in (3, 9):
            j = np.arange(7) + off
            inside = (j >= 0) & (j < (7 if limit == "n" else m))
            expected = np.where(inside, x[j % 9], float(fill[:-1]))
            np.testing.assert_array_equal(f(x, np.zeros(7, np.float32), off, 7, m), expected)
