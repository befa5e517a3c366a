"""Loops that are left: whether a round comes after the first one that leaves, in rows of a matrix and in ragged ones."""

# ruff: noqa: E501 - kernels on one line

import pytest

from kraise import pipeline
from tests.checks import verified
from tests.raising.agree import agree, kinds

HEAD = "def f(x, w, s):\n a = 0.0\n c = -1\n for i in range(len(x)):\n"
LEFT = {
    "a sum before the exit": "  if x[i] > s: break\n  a += w[i]",
    "a sum with the exit's round": "  a += w[i]\n  if x[i] > s: break",
    "skipped rounds": "  if w[i] < 0.0: continue\n  if x[i] > s: break\n  a += w[i]",
    "two exits": "  if x[i] > s:\n   c = i\n   break\n  if w[i] < 0.0:\n   c = -i\n   break\n  a += w[i]",
    "an extremum until then": "  a = max(a, w[i])\n  c = i\n  if x[i] > s: break",
    # what the exit asks of the loop's index bounds its axis: the rounds before that bound do not leave
    "a late exit": "  if x[i] > s:\n   a = w[i]\n   c = i\n   if i > 1: break",
    "a late exit beside a sum": "  if x[i] > s:\n   if i > 1: break\n  else: a += w[i]",
    "an early exit": "  if x[i] > s:\n   c = i\n   if i < 3: break\n  else: a += w[i]",
}


@pytest.mark.parametrize("name", LEFT)
def test_no_loop(name):
    found = kinds(agree(HEAD + LEFT[name] + "\n return a, c"))
    assert "Fold" not in found and "Scan" not in found


def test_backwards():
    found = kinds(
        agree(HEAD.replace("range(len(x))", "range(len(x) - 1, -1, -1)") + LEFT["two exits"] + "\n return a, c")
    )
    assert "Fold" not in found


def test_an_exit_that_asks_for_the_sum_stays():
    assert "Fold" in kinds(agree(HEAD + "  a += w[i]\n  if a > s: break\n return a, c"))


def test_a_flag_that_is_cleared_stays():
    source = "def f(x, w, s):\n on = False\n for i in range(len(x)):\n  if x[i] > s: on = True\n  if w[i] > s: on = False\n  if on: w[i] = x[i]\n return s"
    assert "Fold" in kinds(agree(source))


RAGGED = """from numba import cuda
@cuda.jit
def f(ptr, w, x, y, at):
    i = cuda.grid(1)
    if i < y.size:
        s = 0.0
        at[i] = -1
        for k in {rows}:
            {body}
        y[i] = s
"""
UP, DOWN = "range(ptr[i], ptr[i + 1])", "range(ptr[i + 1] - 1, ptr[i] - 1, -1)"
INDENT = "\n            "
ROWS = {
    "the first": (UP, f"if w[k] > 0.5:{INDENT}    at[i] = k{INDENT}    break"),
    "the last": (DOWN, f"if w[k] > 0.5:{INDENT}    at[i] = k{INDENT}    s = w[k] * x[i]{INDENT}    break"),
    "a sum until then": (UP, f"if w[k] > x[i]: break{INDENT}s += w[k] * w[k]"),
    "whether there is one": (UP, f"if w[k] > x[i]:{INDENT}    at[i] = 1{INDENT}    break"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows(name):
    rows, body = ROWS[name]
    source = RAGGED.format(rows=rows, body=body)
    done = pipeline.translate(source, "case.py")
    assert done.text is not None, done.diagnostics
    assert "segment_m" in done.text and "loop" not in done.text and "[:, None]" not in done.text
    reports, findings = verified(done, pipeline.Request(), "case.py", source)
    assert reports and all(r.ok for r in reports) and not findings, [r.failures for r in reports]


def test_a_store_by_the_entry_that_is_found_is_a_race():
    """Two rows may find entries of one column."""
    body = f"if w[k] > 0.5:{INDENT}    at[int(w[k])] = i{INDENT}    break"
    done = pipeline.translate(RAGGED.format(rows=UP, body=body), "case.py")
    assert done.text is None and "KR202" in {d.code for d in done.diagnostics}


def test_a_result_of_an_inner_loop_depends_on_what_it_uses():
    """Newton's method on a polynomial: the inner loop's sums are of the value that the outer loop carries."""
    source = "def f(x, w, s):\n a = s\n for i in range(2):\n  p = 0.0\n  for k in range(len(x)):\n   p = p * a + x[k]\n  if p > 5.0: break\n  a = a - 0.5 * p\n return a, w[0]"
    assert "Scan" not in kinds(agree(source))


def test_an_exit_on_the_index_alone_is_a_domain():
    text = "def f(x, w, n):\n for i in range(n):\n  a = 0.0\n  for t in range(n):\n   if i < t: break\n   a += x[t] * w[i - t]\n  w[i] = a"
    done = pipeline.translate("from numba import njit\n@njit\n" + text.replace("w[i] = a", "x[i] = x[i]"), "case.py")
    assert done.text is not None and "iinfo" not in done.text


def test_the_value_of_the_round_before():
    source = "def f(x, y):\n b = 0.5\n for i in range(len(x)):\n  y[i] = x[i] - b\n  b = x[i] * 2.0\n return b"
    found = kinds(agree(source))
    assert "Fold" not in found and "Fold" not in kinds(
        agree(source.replace("range(len(x))", "range(len(x) - 1, -1, -1)"))
    )
