"""Counts that a nest of loops moves by the rounds of its inner loop: the places of a triangle's rows, one after the
other."""

import numpy as np
import pytest

from kraise import pipeline
from kraise.verify.load import load_module
from kraise.verify.request import Request
from tests.checks import agrees

NEST = """
def f(x, p):
    n = x.shape[0]
    k = {first}
    for i in range({rows}):
        for j in range({columns}):
            p[k] = x[i] * x[j] + x[j]
            k += 1{more}
"""


def translated(rows, columns, more="", first=0):
    source = NEST.format(rows=rows, columns=columns, more=more, first=first)
    return source, pipeline.translate(source, "k.py")


def ran(source, n, size):
    x, p, names = np.linspace(0.5, 1.5, n), np.zeros(size), {}
    exec(source, names)
    names["f"](x, p)
    return x, p


@pytest.mark.parametrize(
    ("rows", "columns", "place"),
    [
        ("n", "i + 1, n", "i * n + j - i - (i * i + i) // 2 - 1"),
        ("n", "i, n", "i * n + j - i - (i * i - i) // 2"),
        ("n", "i + 1", "j + (i * i + i) // 2"),
        ("1, n", "i", "j + (i * i - i) // 2"),
    ],
)
def test_rows_of_a_triangle_have_places_of_their_own(rows, columns, place):
    source, done = translated(rows, columns)
    assert f"p[{place}] = " in done.text and "scan" not in done.text and "fori_loop" not in done.text
    for n in (1, 5):
        x, p = ran(source, n, 24)
        got = load_module(done.text).f(x, np.zeros(24))
        np.testing.assert_allclose(np.asarray(got), p, rtol=1e-5)


@pytest.mark.long
def test_gradients_of_a_packed_triangle():
    agrees(translated("n", "i + 1, n")[1], Request(shapes={"x": (5,), "p": (12,)}))


@pytest.mark.parametrize(
    "more",
    ["\n        k -= i", "\n        k -= 1", "\n            if x[j] > 1.0:\n                k -= 1"],
    ids=["rows overlap", "rows share a place", "data decide"],
)
def test_rows_that_meet_stay_in_order(more):
    source, done = translated("n", "i + 1", more, first=1)
    assert "scan" in done.text or "fori_loop" in done.text
    x, p = ran(source, 6, 40)
    np.testing.assert_allclose(np.asarray(load_module(done.text).f(x, np.zeros(40))), p, rtol=1e-5)


@pytest.mark.long
def test_what_a_loop_carries_is_one_number_for_the_loops_within():
    """``k`` moves on by what data say: the rows' places are told apart round by round."""
    source = NEST.replace("p[k] =", "p[k + j] =").replace("            k += 1{more}", "        k += 3 + (x[i] > 1.0)")
    source = source.format(rows="n", columns="3", first=0)
    done = pipeline.translate(source, "k.py")
    x, p = ran(source, 6, 40)
    np.testing.assert_allclose(np.asarray(load_module(done.text).f(x, np.zeros(40))), p, rtol=1e-5)


@pytest.mark.parametrize(
    ("rows", "columns", "first", "cells"),
    [
        ("n", "i + 1, n", 0, "jnp.triu_indices(n - 1)"),
        ("n", "i, n", 3, "jnp.triu_indices(n)"),
        ("n", "i + 1", 0, "jnp.tril_indices(n)"),
        ("1, n - 1", "i + 2, n", 0, "jnp.triu_indices("),
    ],
)
def test_the_rows_of_a_triangle_are_taken_at_its_indices(rows, columns, first, cells):
    source, done = translated(rows, columns, first=first)
    assert cells in done.text and 'mode="drop"' not in done.text
    x, p = ran(source, 6, 30)
    np.testing.assert_allclose(np.asarray(load_module(done.text).f(x, np.zeros(30))), p, rtol=1e-5)


@pytest.mark.parametrize(
    ("place", "columns"),
    [("i * (i + 1) + j", "i + 1"), ("i * (i + 1) // 2 + i - j", "i + 1"), ("i * (i + 3) // 2 + j", "i + 1")],
)
def test_rows_with_gaps_or_backwards_are_no_packed_triangle(place, columns):
    source = NEST.replace("p[k] =", f"p[{place}] =").format(rows="n", columns=columns, more="", first=0)
    done = pipeline.translate(source, "k.py")
    assert "tril_indices" not in done.text
    x, p = ran(source, 5, 40)
    np.testing.assert_allclose(np.asarray(load_module(done.text).f(x, np.zeros(40))), p, rtol=1e-5)


def test_squares_in_subscripts():
    """Rows that get shorter by two, of segments of different lengths (fractal dimensions)."""
    source = "def f(x, p, m):\n    n = x.shape[0]\n    for t in range(m):\n        for i in range(t + 1, n - t - 1):\n"
    source += "            p[i - t - 1 + (n - 1) * t - t**2] = x[i] * t\n"
    done = pipeline.translate(source, "k.py")
    assert "fori_loop" not in done.text and "scan" not in done.text
    x, p, names = np.linspace(0.5, 1.5, 7), np.zeros(20), {}
    exec(source, names)
    names["f"](x, p, 3)
    np.testing.assert_allclose(np.asarray(load_module(done.text).f(x, np.zeros(20), 3)), p, rtol=1e-5)
    other = pipeline.translate(source.replace("(n - 1) * t", "(n - 2) * t"), "k.py")  # rows overlap
    assert "fori_loop" in other.text or "scan" in other.text
