"""Sums over windows of more than a few cells: a sum of slices that Python runs, not index arrays."""

import re

import pytest

from kraise import pipeline

WINDOWS = {
    "a filter": "s += w[k] * x[i + k]",
    "cut off at the ends": "s += w[k] * x[i + k - 5] if i + k - 5 >= 0 and i + k - 5 < n else 0.0",
    "clamped": "s += w[k] * x[min(max(i + k - 5, 0), n - 1)]",
    "differences": "s += (x[i + k] - x[i]) ** 2",
    "strided": "s += x[2 * i + k]",
}


@pytest.mark.parametrize("name", WINDOWS)
def test_a_long_window(name):
    source = f"""
def f(x, w, y, n):
    for i in range(n):
        s = 0.0
        for k in range(11):
            {WINDOWS[name]}
        y[i] = s
"""
    done = pipeline.translate(source, "k.py")
    assert not done.diagnostics
    for n in (7, 1):
        request = pipeline.Request(shapes={"x": (2 * n + 11,), "w": (11,), "y": (n,)}, values={"n": n})
        ((report,), problems) = pipeline.verify(done, request)
        assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
    if name != "clamped":
        assert re.search(r"sum\(.*for k in range\(11\)\s*\)", done.text, re.S) and "arange" not in done.text, done.text


def test_a_window_in_two_directions_with_weights():
    source = """
def conv(img, ker, out):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            sum = 0.0
            for a in range(5):
                for b in range(3):
                    sum += img[i + a, j + b] * ker[a, b]
            out[i, j] = 2.0 * sum + sum * sum
"""
    done = pipeline.translate(source, "k.py")
    ((report,), problems) = pipeline.verify(
        done, pipeline.Request(shapes={"img": (9, 8), "ker": (5, 3), "out": (5, 6)}, values={})
    )
    assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
    assert "for a in range(5)" in done.text and "for b in range(3)" in done.text
    assert not re.search(r"^\s+sum = ", done.text, re.M)  # the built-in function keeps its name


def test_a_parameter_named_sum_is_not_shadowed():
    source = """
def f(x, sum, n):
    for i in range(n):
        s = 0.0
        for k in range(11):
            s += x[i + k]
        sum[i] = s
"""
    done = pipeline.translate(source, "k.py")
    ((report,), problems) = pipeline.verify(done, pipeline.Request(shapes={"x": (18,), "sum": (7,)}, values={"n": 7}))
    assert not problems and report.ok


@pytest.mark.parametrize("weight, value, rows", [("1.5", "s * s", True), ("1.5", "s", False), ("c", "s * s", False)])
def test_rows_of_a_window_are_added_first_where_the_sum_is_used_twice(weight, value, rows):
    """Not where the slices are filled up once anyway, nor with a weight that has a gradient of its own."""
    source = f"""
def f(x, y, c):
    h, w = x.shape
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            s = 0.0
            for a in range(-1, 2):
                for b in range(-1, 2):
                    s += {weight} * x[i + a, j + b]
            y[i, j] = {value}
"""
    done = pipeline.translate(source, "k.py")
    for size in (5, 2):
        request = pipeline.Request(shapes={"x": (size, 6), "y": (size, 6)}, values={"c": 0.5})
        ((report,), problems) = pipeline.verify(done, request)
        assert not problems and report.ok, [(r.check, r.what, r.message) for r in report.failures]
    assert ("[:, " in done.text) == rows, done.text
