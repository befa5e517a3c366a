"""Rows made of the rows before them, twice: XLA's updates in place read what they have just written (jaxlib 0.10.2)."""

from __future__ import annotations

import pytest

from kraise import pipeline
from tests.checks import agrees

ROWS = """
def rows(a, n, m):
    for i in range(AROUND):
        for j in range(m):
            a[i * m + j] = VALUE
    for j in range(m):
        a[2 * m + j] = 3.0 * a[m + j]
"""
DOWN = ("n - 1, 0, -1", "2.0 * a[(i - 1) * m + j]")
UP = ("n - 1", "2.0 * a[(i + 1) * m + j]")


def _text(around, value):
    done = pipeline.translate(ROWS.replace("AROUND", around).replace("VALUE", value), "k.py")
    assert done.text is not None, [d.reason for d in done.diagnostics]
    agrees(done, pipeline.Request(values={"n": 8, "m": 8}, shapes={"a": (64,)}), around, value)
    return done.text


def test_rows_of_rows_before_them_are_put_together_anew():
    assert "jnp.concatenate((a2[:1]" in _text(*DOWN)


def test_rows_between_two_ends():
    """There may be none: the last row is no second first one."""
    text = _text("1, n - 1", UP[1])
    assert "a2[max(n - 1, 1) :]" in text, text


@pytest.mark.parametrize("more", ["", " + a[i * m + j]"])
def test_rows_that_are_read_before_they_are_stored_are_updated(more):
    around, value = DOWN if more else UP
    assert not more or "jnp.concatenate" not in _text(around, value + more)
