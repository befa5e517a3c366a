"""Ragged loops within ragged loops, and within them loops of a fixed length."""

import pytest

from kraise import pipeline
from tests.checks import verified

NEST = """import math
from numba import cuda
@cuda.jit
def f(outer, inner, w, g, x, y):
    i = cuda.grid(1)
    if i < y.size:
        s = 0.0
        for r in range(outer[i], outer[i + 1]):
            {before}
            for k in range({first}, {stop}):
                {body}
            {after}
        y[i] = s
"""
OWN = {"before": "pass", "first": "inner[r]", "stop": "inner[r + 1]", "body": "s += w[k]", "after": "pass"}
FLAT = {
    "sums": OWN,
    "products with what belongs to the row": {**OWN, "body": "s += w[k] * g[r]"},
    "entries under a condition": {**OWN, "body": "s += w[k] if w[k] > g[r] else 0.0"},
    "a greatest": {**OWN, "body": "s = max(s, w[k])"},
    "totals of rows": {**OWN, "before": "t = 0.0", "body": "t += w[k]", "after": "s += t * t"},
    "a break": {**OWN, "body": "if w[k] > 0.5: break\n                s += w[k]"},
    "of what is no row's": {**OWN, "before": "s += g[r]"},
}
FLAT["products with the lane"] = {**OWN, "body": "s += w[k] * g[r] * x[i]"}
LOOPS = {
    "entries and the lane": {**OWN, "body": "s += (w[k] + x[i]) ** 2"},
    "a quotient, which no row may divide by": {**OWN, "body": "s += w[k] / x[i]"},
    "a recurrence": {**OWN, "body": "s = 0.5 * s + w[k]"},
}


def checked(parts: dict[str, str]) -> str:
    source = NEST.format(**parts)
    done = pipeline.translate(source, "case.py")
    assert done.text is not None, done.diagnostics
    reports, findings = verified(done, pipeline.Request(), "case.py", source)
    assert reports and all(r.ok for r in reports) and not findings, [r.failures for r in reports]
    return done.text


@pytest.mark.parametrize("name", FLAT)
def test_segments(name):
    text = checked(FLAT[name])
    assert "segment_" in text and "while_loop" not in text and "inner must not decrease" in text


@pytest.mark.parametrize("name", LOOPS)
def test_to_the_longest_row(name):
    assert "while_loop" in checked(LOOPS[name])


BLOCK = """from numba import cuda
@cuda.jit
def f(ptr, blocks, y, n):
    i = cuda.grid(1)
    if i < y.size:
        s = 0.0
        for k in range(ptr[i], ptr[i + 1]):
            for j in range({length}):
                s += blocks[k, j]
        y[i] = s
"""


@pytest.mark.parametrize("length", ["3", "n"])
def test_fixed_lengths_within_rows(length):
    """A loop that may have no round reads nothing: then nothing is known of the index of the rows."""
    source = BLOCK.format(length=length)
    done = pipeline.translate(source, "case.py")
    assert done.text is not None and ("segment_sum" in done.text) is (length == "3")
    reports, _ = verified(done, pipeline.Request(), "case.py", source)
    assert all(r.ok for r in reports)
