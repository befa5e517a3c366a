"""Searches whose range differs from lane to lane have as many rounds as the range has bits."""

import pytest

from kraise import pipeline
from tests.raising.test_bisection import HALF, OPEN, checked

ROWS = """from numba import cuda
@cuda.jit
def f(row, col, key, y):
    i = cuda.grid(1)
    if i < y.size:
        lo = row[i]
        hi = row[i + 1]{one_less}
        n = 0
        while {test}:
            mid = {middle}
            {body}
        y[i] = {result}
"""
STEP = "if col[mid] < key[i]:\n                lo = {low}\n            else:\n                hi = {high}"
FORMS = {
    "half open": ("", "lo < hi", "(lo + hi) // 2", STEP.format(low="mid + 1", high="mid")),
    "closed": (" - 1", "lo <= hi", "lo + (hi - lo) // 2", STEP.format(low="mid + 1", high="mid - 1")),
    "from above": (" - 1", "lo < hi", "(lo + hi + 1) // 2", STEP.format(low="mid", high="mid - 1")),
    "left where it is found": (
        " - 1",
        "lo <= hi",
        "(lo + hi) >> 1",
        "if col[mid] == key[i]:\n                break\n            " + STEP.format(low="mid + 1", high="mid - 1"),
    ),
}
STAY = {
    "a third": ("", "lo < hi", "(2 * lo + hi) // 3", STEP.format(low="mid + 1", high="mid")),
    "steps by one": ("", "lo < hi", "(lo + hi) // 2", STEP.format(low="lo + 1", high="mid")),
    "which way is counted": (
        "",
        "lo < hi",
        "(lo + hi) // 2",
        "n += 1\n            " + STEP.format(low="mid + 1", high="mid").replace("col[mid]", "col[mid] + n % 2"),
    ),
}


def text_of(form: tuple[str, str, str, str]) -> str:
    one_less, test, middle, body = form
    source = ROWS.format(one_less=one_less, test=test, middle=middle, body=body, result="lo")
    done = pipeline.translate(source, "case.py")
    assert done.text is not None, done.diagnostics
    return done.text


@pytest.mark.parametrize("name", FORMS)
def test_as_many_rounds_as_bits(name):
    text = text_of(FORMS[name])
    assert "fori_loop" in text and ".bit_length(), step" in "".join(text.split()).replace(",step", ", step")
    assert "while_loop" not in text
    assert "row must lie between 0 and col.shape[0]" in text


LONGER = {
    "one place more": ("row[i + 1]{one_less}", "row[i + 1]"),  # with a test of lo <= hi
    "another end": ("row[i + 1]{one_less}", "2 * row[i + 1]"),
    "a place before the first": ("lo = row[i]", "lo = row[i] - 1"),
    "a row that the kernel writes": ("        lo = row", "        row[i] = key[i]\n        lo = row"),
}


@pytest.mark.parametrize("name", LONGER)
def test_ends_that_are_no_entries_may_be_further_apart(name):
    """Of ranges longer than the array only the places that are looked at are known to be inside."""
    old, new = LONGER[name]
    _, _, middle, body = FORMS["closed"]
    source = ROWS.replace(old, new).format(one_less=" - 1", test="lo <= hi", middle=middle, body=body, result="lo")
    done = pipeline.translate(source, "case.py")
    text = done.text or ""
    assert ".bit_length(), step" not in text and "must lie between" not in text
    assert ".bit_length() + 2" in text or not done.raised or "while_loop" in text


@pytest.mark.parametrize("name", STAY)
def test_what_does_not_halve_stays(name):
    assert "while_loop" in text_of(STAY[name])


@pytest.mark.parametrize("form", [HALF, OPEN])
def test_values(form):
    text = checked({**form, "high": "min(a.size, i + 1)"})
    assert "while_loop" not in text
