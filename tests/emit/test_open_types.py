"""Sums of what may be bytes or booleans, as NumPy has them: terms are of the sum's own type before they meet."""

import jax
import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module

START = "import numpy as np\ndef f(a, b, p):\n n = len(a)\n {}\n for i in range(n):\n  {}\n return {}\n"
FLOATS = {  # the start, each round, what the text holds
    "two terms": ("c = 0.0", "c += a[i]; c += b[i]", "jnp.sum(1.0 * a + b["),
    "a difference": ("c = 0.0", "c += a[i]; c -= b[i]", "jnp.sum(1.0 * a - b["),
    "less": ("c = 0.0", "c -= a[i]", "-1.0 * a.sum()"),
    "less twice": ("c = 2.0", "c -= a[i]; c -= b[i]", "-1.0 * a - b["),
    "a factor": ("c = 0.0", "c += 0.5 * a[i] * b[i]", "0.5 * ((1.0 * a) @ b["),
    "the factor one": ("c = 0.0", "c += 1.0 * a[i] * b[i]", "(1.0 * a) @ b["),
    "a parameter": ("c = 0.0", "c += p * a[i] * b[i]", "p * ((1.0 * a) @ b["),
    "running": ("c = np.zeros(n); s = 0.0", "s += a[i]; c[i] = s", "cumsum(1.0 * a)"),
    "sums so far": ("c = np.zeros(n)", "s = 0.0\n  for k in range(i + 1):\n   s += a[k]\n  c[i] = s", "sum(1.0 * a)"),
    "cells": ("c = np.zeros(n)", "c[i] -= a[i]; c[i] += b[i]", "(-1.0 * a + b["),
    "stored cells": ("c = b * 1.0", "c[i] -= a[i]; c[i] -= b[i]", " - a - b["),
}
COUNTS = {
    "two comparisons": ("c = 0", "c += a[i] > 3; c += b[i] > 200"),
    "a comparison less": ("c = 0", "c += a[i] > 3; c -= b[i] > 200"),
    "one under the other": ("c = 0", "c += a[i] > 3\n  if b[i] > 9:\n   c += b[i] < 200"),
    "in cells": ("c = np.zeros(n, dtype=np.int64)", "c[i] += a[i] > 3; c[i] += b[i] > 9"),
    "stored numbers": ("c = 0; t = np.zeros(n, dtype=np.bool_)", "t[i] = a[i] & 6; c += t[i]; c += t[i] * a[i] > 99"),
    "booleans": ("c = 0", "c += p[i]; c += p[n - 1 - i]"),
}
A, B = np.array([250, 7, 201, 90, 255], "uint8"), np.array([9, 251, 240, 16, 3], "uint8")
P = np.array([True, True, False, True, True])


def _twice(start, each, p):
    """What was translated, and both results."""
    source = START.format(start, each, "c")
    done = pipeline.translate(source, "k.py")
    assert done.text, done.diagnostics
    own: dict = {}
    exec(source, own)  # noqa: S102
    return done.text, load_module(done.text).f, own["f"](A, B, p)


@pytest.mark.parametrize("name", FLOATS)
def test_a_float_sums_bytes_as_floats(name):
    start, each, form = FLOATS[name]
    text, f, expected = _twice(start, each, 1.5)
    assert form in text, text
    np.testing.assert_allclose(f(A, B, 1.5), expected, rtol=1e-6)
    small = jax.ShapeDtypeStruct((5,), np.float32)
    assert name in ("running", "sums so far", "cells") or jax.eval_shape(f, small, small, 1.5).dtype == np.float32
    x, y = A.astype(np.float32), B.astype(np.float32)
    slope = jax.grad(lambda a: f(a, y, 1.5).sum())(x)
    each_less = {"less": -1, "less twice": -1, "cells": -1, "stored cells": -1, "running": None, "sums so far": None}
    expected = each_less.get(name, 1)
    if "*" in each:
        expected = y * {"a factor": 0.5, "the factor one": 1.0}.get(name, 1.5)
    np.testing.assert_allclose(slope, np.arange(5, 0, -1) if expected is None else np.full(5, expected))


@pytest.mark.parametrize("name", COUNTS)
def test_two_booleans_count_two(name):
    _, f, expected = _twice(*COUNTS[name], P)
    np.testing.assert_array_equal(f(A, B, P), expected)


def test_floats_whose_type_is_known_are_added_as_they_are():
    done = pipeline.translate(
        "__global__ void f(float *y, const float *a, const float *b, int n) {\n int i = threadIdx.x;\n"
        " float c = 0; for (int k = 0; k < n; k++) { c += a[k]; c -= b[k]; }\n y[i] = c;\n}",
        "k.cu",
    )
    assert "1.0 *" not in done.text and "a[:n] - b[:n]" in done.text, done.text


PRODUCTS = {  # the function's parameters and body, what the text holds
    "a dot product": ("a, b, c", "s = 0.0\n for i in range(7):\n  s += a[0, i] * b[i, 0]\n c[0, 0] = s", "(1.0 * a["),
    "counted": ("a, b, c", "s = 0\n for i in range(7):\n  s += a[0, i] * b[i, 0]\n c[0, 0] = s", "(1 * a["),
    "a matrix": (
        "a, b, c",
        "for i in range(3):\n  for j in range(4):\n   s = 0.0\n   for k in range(7):\n    s += a[i, k] * b[k, j]\n"
        "   c[i, j] = s",
        "(1.0 * a[:3, :7]) @ b[:7, :4]",
    ),
    "into cells": (
        "a, b, c",
        "for i in range(3):\n  for j in range(4):\n   for k in range(7):\n    c[i, j] += a[i, k] * b[k, j]",
        "a[:3, :7].astype(jnp.result_type(a, c)) @ b[:7, :4]",
    ),
    "from a cell": (
        "a, b, c, d",
        "for i in range(3):\n  for j in range(4):\n   s = d[j]\n   for k in range(7):\n    s += a[i, k] * b[k, j]\n"
        "   c[i, j] = s",
        "a[:3, :7].astype(jnp.result_type(a, d)) @ b[:7, :4]",
    ),
    "of three": (
        "a, b, c",
        "for i in range(3):\n  s = 0.0\n  for k in range(7):\n   for j in range(4):\n"
        "    s += a[i, k] * b[k, j] * b[j, 0]\n"
        "  c[i, 0] = s",
        "(1.0 * b[:7, :4]) @ b[:4, 0]",
    ),
    "a filter": (
        "a, b, c",
        "for i in range(3):\n  s = 0.0\n  for k in range(len(b)):\n   s += a[0, i + k] * b[k, 0]\n  c[i, 0] = s",
        "1.0 * ",
    ),
}


@pytest.mark.parametrize("name", PRODUCTS)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float32"])
def test_products_of_bytes_and_booleans_add_up(name, dtype):
    """They wrapped in 8 bits, and of booleans came out as one."""
    parameters, body, form = PRODUCTS[name]
    source = f"def f({parameters}):\n {body}\n"
    done = pipeline.translate(source, "k.py")
    assert done.text and form in done.text, done.text or done.diagnostics
    rng, own = np.random.default_rng(0), {}
    a, b = (rng.integers(0, 2 if dtype == "bool" else 9, shape).astype(dtype) for shape in ((3, 9), (7, 4)))
    given = [a, b, rng.random((3, 4)), rng.integers(0, 300, 4).astype(np.int32)]
    given = given[: parameters.count(",") + 1]
    f, expected = load_module(done.text).f, [x.copy() for x in given]
    exec(source, own)  # noqa: S102
    own["f"](*expected)
    np.testing.assert_allclose(f(*given), expected[2], rtol=1e-5)
    if dtype == "float32":
        slopes = jax.grad(lambda a, b: f(a, b, *given[2:]).sum(), (0, 1))(a, b)
        step = rng.random(a.shape).astype(dtype)
        ahead, back = (f(a + h * step, b, *given[2:]).sum() for h in (0.5, -0.5))
        np.testing.assert_allclose((slopes[0] * step).sum(), ahead - back, rtol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_products_of_a_known_type_are_as_they_are(dtype):
    c_type = {"float32": "float", "float64": "double"}[dtype]
    done = pipeline.translate(
        f"void f({c_type} *c, const {c_type} *a, const {c_type} *b, int n) {{\n"
        " for (int k = 0; k < n; k++) c[0] += a[k] * b[k];\n}}".replace("}}", "}"),
        "k.c",
    )
    assert "1.0 *" not in done.text and "result_type" not in done.text and "a[:n] @ b[:n]" in done.text, done.text


LESS = {  # what each round does, what the text holds
    "cells": ("y[i] -= a[i]", "add(-a.astype(y.dtype))"),
    "places": ("y[2 * i] -= a[i]", "add(-a.astype(y.dtype))"),
    "twice": ("y[i] = y[i] - a[i] - a[i]", "add(-a.astype(jnp.result_type(a, y)) - a)"),
    "one cell": ("y[0] -= a[i]", "add(-a.sum().astype(y.dtype))"),
}


@pytest.mark.parametrize("dtype", ["uint8", "uint32", "bool", "float32"])
@pytest.mark.parametrize("name", LESS)
def test_what_has_no_sign_is_taken_away(name, dtype):
    """``-a`` of bytes wraps before it is added to a part of an array of floats; of booleans there is none."""
    each, form = LESS[name]
    source = f"def f(a, y):\n for i in range(len(a)):\n  {each}\n"
    done = pipeline.translate(source, "k.py")
    assert done.text and form in done.text, done.text
    a, y, own = np.array([3, 1, 0, 200, 7]).astype(dtype), np.linspace(0, 1, 11), {}
    exec(source, own)  # noqa: S102
    expected = y.copy()
    if dtype == "bool" and name == "twice":
        return  # NumPy, too, subtracts no booleans from each other
    own["f"](a, expected)
    f = load_module(done.text).f
    np.testing.assert_allclose(f(a, y), expected, rtol=1e-6)
    if dtype == "float32":
        slope = jax.grad(lambda a: f(a, y.astype(dtype)).sum())(a)
        np.testing.assert_allclose(slope, np.full(5, -2 if name == "twice" else -1))


def test_halves_that_make_a_whole_are_taken_from_integers():
    done = pipeline.translate("def f(a, y):\n for i in range(len(a)):\n  y[i] = y[i] - a[i] - a[i]\n", "k.py")
    found = load_module(done.text).f(np.full(3, 0.5, np.float32), np.arange(5, dtype=np.int32))
    assert found.tolist() == [-1, 0, 1, 3, 4]


def test_what_is_taken_away_of_its_own_array_keeps_its_type():
    done = pipeline.translate("def f(y):\n for i in range(len(y) - 3):\n  y[i] -= y[i + 3]\n", "k.py")
    assert "astype(y.dtype)" not in done.text, done.text


def test_a_sum_that_is_taken_from_a_number():
    source = "def f(a, b):\n c = b[0]\n for i in range(len(a)):\n  c -= a[i]\n return c\n"
    done = pipeline.translate(source, "k.py")
    assert "b[0] - a.sum()" in done.text, done.text
    assert float(load_module(done.text).f(A, np.array([0.5]))) == 0.5 - A.astype(int).sum()


ENDS = {  # the loop's body, the shortest array, what the text holds
    "a load": ("y[i] = w[n - 3] * 2", 2, "w[n - 3]"),
    "a store": ("w[n - 2] = y[i] * 0 + 5", 1, "at[n - 2]"),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_element_near_the_end_of_a_short_array_is_counted_from_there(name):
    """``w[n - 3]`` of two elements is the last in Python, ``w[-3]`` the first in JAX, and no place of a store."""
    body, shortest, form = ENDS[name]
    source = f"def f(w, y):\n n = len(w)\n for i in range(len(y)):\n  {body}\n"
    done = pipeline.translate(source, "k.py")
    assert done.text and form in done.text, done.text or done.diagnostics
    own: dict = {}
    exec(source, own)  # noqa: S102
    for n in range(shortest, 5):
        w, y = np.arange(1.0, n + 1), np.zeros(4)
        after = (w.copy(), y.copy())
        own["f"](*after)
        np.testing.assert_allclose(load_module(done.text).f(w, y), after[name == "a load"])
    slope = jax.grad(lambda w: load_module(done.text).f(w, y).sum())(w)
    np.testing.assert_allclose(slope, [0, 8, 0, 0] if name == "a load" else [1, 1, 0, 1])


@pytest.mark.parametrize(
    ("body", "form"), [("y[i] = w[n - 2] + w[n - 1]", "w[-2] + w[-1]"), ("w[n - 1] = 5", "at[-1]")]
)
def test_an_element_that_is_there_is_counted_from_the_end(body, form):
    done = pipeline.translate(f"def f(w, y):\n n = len(w)\n for i in range(len(y)):\n  {body}\n", "k.py")
    assert done.text and form in done.text, done.text or done.diagnostics


OPEN = {  # each round of a sum that begins with a parameter, and its sums
    "two terms": ("p += a[i]; p += b[i]", 2),
    "one less": ("p += a[i]; p -= b[i]", 2),
    "one now and then": ("p += b[i]\n  if i % 2:\n   p += a[i]", 2),
    "three": ("p = p + a[i] - b[i] + a[i]", 2),  # the same one twice
    "bytes that wrap in NumPy, too": ("p += a[i] + b[i]", 1),
}


@pytest.mark.parametrize("name", OPEN)
def test_a_sum_that_begins_with_a_parameter_takes_one_term_after_the_other(name):
    """It may be wider than bytes, which wrap when they are added to each other."""
    each, sums = OPEN[name]
    source = START.format("q = 0", each, "p")
    done = pipeline.translate(source, "k.py")
    own: dict = {}
    exec(source, own)  # noqa: S102
    f = load_module(done.text).f
    assert done.text.count("sum(") == sums, done.text
    for p in (np.float32(0.5), np.int32(-3), 2.5):
        with np.errstate(over="ignore"):
            np.testing.assert_allclose(f(A, B, p), own["f"](A, B, p))
    x, y = A.astype(np.float32), B.astype(np.float32)
    slopes = jax.grad(f, argnums=(0, 1, 2))(x, y, 2.5)
    steps = [[own["f"](x + k * d, y + e * d, 2.5 + h) - own["f"](x, y, 2.5) for d in np.eye(5)]
             for k, e, h in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]  # fmt: skip
    np.testing.assert_allclose(slopes[0], steps[0])
    np.testing.assert_allclose(slopes[1], steps[1])
    np.testing.assert_allclose(slopes[2], steps[2][0])


SHIFTS = """
import numpy as np
def f(seeds, out):
    for i in range(len(out)):
        s = seeds[i]
        s ^= s << np.uint64(13)
        out[i] = s * np.uint64(3) >> np.uint64(7)
"""


def test_numbers_of_64_bits_keep_them_beside_open_types():
    """Of seeds with 32 bits the upper ones were lost."""
    text = pipeline.translate(SHIFTS, "k.py").text
    assert "jnp.uint64(13)" in text and "jax_enable_x64" in text, text
    f, own = load_module(text).f, {}
    exec(SHIFTS, own)  # noqa: S102
    seeds, out = np.array([2**32 - 1, 2**31 + 5, 7], np.uint32), np.zeros(3, np.uint64)
    got = f(seeds, out)
    own["f"](seeds, out)
    np.testing.assert_array_equal(got, out)
    plain = pipeline.translate(SHIFTS.replace("np.uint64", ""), "k.py").text
    assert "uint64" not in plain and "jax_enable_x64" not in plain, plain
