"""Races that change nothing: cells that others read keep their values, by algebra or by what is said of the data."""

import pytest

from kraise import pipeline
from tests.raising.agree import agree, raised, refusal

KERNEL = """
def f(A, q):
    i, j = cuda.grid(2)
    if i < A.shape[0] and j < A.shape[1]:
        {}
"""
STAYS = {
    "a path through k": ("A[i, j] = min(A[i, j], A[i, q] + A[q, j])", "A[q, q] must not be negative"),
    "the same by a branch": (
        "via = A[i, q] + A[q, j]\n        if via < A[i, j]:\n            A[i, j] = via",
        "A[q, q] must not be negative",
    ),
    "the longest": ("A[i, j] = max(A[i, j], A[q, j] + A[i, q])", "A[q, q] must not be positive"),
    "the widest": ("A[i, j] = max(A[i, j], min(A[i, q], A[q, j]))", ""),
    "the narrowest": ("A[i, j] = min(A[i, j], max(A[q, j], A[i, q]))", ""),
    "a number more": ("A[i, j] = min(A[i, j], A[i, q] + 1.0)", ""),
}
RACES = {
    "a difference": "A[i, j] = min(A[i, j], A[i, q] - A[q, j])",
    "a product": "A[i, j] = min(A[i, j], A[i, q] * A[q, j])",
    "the wrong way": "A[i, j] = max(A[i, j], max(A[i, q], A[q, j]))",
    "no extremum": "A[i, j] = A[i, q] + A[q, j]",
    "a number less": "A[i, j] = min(A[i, j], A[i, q] - 1.0)",
    "another column": "A[i, j] = min(A[i, j], A[i, q] + A[0, j] - 1.0)",
    "a neighbour": "A[i, j] = min(A[i, j], A[i, (j + 1) % A.shape[1]] + A[q, j])",
}


@pytest.mark.parametrize("name", STAYS)
def test_cells_that_stay(name, tmp_path):
    body, said = STAYS[name]
    if not said:
        assert not agree(KERNEL.format(body)).assumptions
        return
    assert [a for a in raised(KERNEL.format(body)).assumptions if "must not be" in a] == [said]
    case = tmp_path / "case.toml"
    low, high = (0.0, 3.0) if "negative" in said else (-3.0, 0.0)
    case.write_text(f"[kernel.f.args]\nA = {{ shape = [6, 6], range = [{low}, {high}] }}\nq = 2\n")
    done = pipeline.translate("from numba import cuda\n@cuda.jit" + KERNEL.format(body), "k.py")
    reports, findings = pipeline.verify(done, pipeline.Request(case=str(case)))
    assert not findings and not reports[0].failures


@pytest.mark.parametrize("name", RACES)
def test_races(name):
    assert refusal(KERNEL.format(RACES[name])) == "KR201"


def test_bits():
    kernel = raised(KERNEL.format("A[i, j] |= A[i, q] & A[q, j]"))
    assert not kernel.assumptions
    assert refusal(KERNEL.format("A[i, j] |= A[i, q] | A[q, j]")) == "KR201"
    assert refusal(KERNEL.format("A[i, j] &= A[i, q] & A[q, j]")) == "KR201"


def test_what_is_said_is_checked():
    kernel = raised(KERNEL.format(STAYS["a path through k"][0]), checked=True)
    assert any("A[q, q] must not be negative" in (getattr(s, "message", "") or "") for s in kernel.body)
