"""Races that change nothing: cells that others read keep their values, by algebra or by what is said of the data."""

import pytest

from kraise import pipeline
from tests.checks import verified
from tests.raising.agree import agree, raised, refusal, write

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
    reports, findings = verified(done, pipeline.Request(case=str(case)))
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


TRUTHS = {
    "a branch": "if A[i, q] and A[q, j]:\n            A[i, j] = 1",
    "branches": "if A[i, q] != 0:\n            if not A[q, j] == 0:\n                A[i, j] = 1",
    "by words": "A[i, j] = A[i, j] or (A[i, q] and A[q, j])",
}
NO_TRUTHS = {
    "one of both": "if A[i, q] or A[q, j]:\n            A[i, j] = 1",
    "zero": "if A[i, q] and A[q, j]:\n            A[i, j] = 0",
    "half": "if A[i, q] and A[q, j]:\n            A[i, j] = 0.5",
    "the number is read": "h[i] = A[i, q]\n        if A[i, q] and A[q, j]:\n            A[i, j] = 1",
    "a neighbour": "if A[i, q] and A[q, (j + 1) % A.shape[1]]:\n            A[i, j] = 1",
    "another row": "if A[i, q] and h[j] and A[0, j] > 0:\n            A[i, j] = 1",
    "by words, another": "A[i, j] = A[i, j] or A[i, q] or A[q, j]",
}


@pytest.mark.parametrize("body", TRUTHS.values(), ids=TRUTHS)
def test_only_whether_there_is_a_number(body):
    source = "from numba import cuda\n@cuda.jit" + KERNEL.format(body)
    done = pipeline.translate(source, "k.py")
    assert done.module is not None and not done.module.kernels[0].assumptions
    reports, findings = verified(done, pipeline.Request(gradients=False))
    assert not findings and not reports[0].failures


@pytest.mark.parametrize("body", NO_TRUTHS.values(), ids=NO_TRUTHS)
def test_more_than_whether_there_is_a_number(body):
    assert refusal(KERNEL.format(body).replace("f(A, q)", "f(A, h, q)")) == "KR201"


def test_closures_of_loops():
    body = (
        "for k in range(n):\n  for i in range(n):\n   for j in range(n):\n    if A[i, k] and A[k, j]:\n     A[i, j] = "
    )
    axes = {v: len(write(agree(f"def f(A, n):\n {body}{v}")).axes) for v in ("1", "True", "0", "A[k, k]")}
    assert axes == {"1": 2, "True": 2, "0": 0, "A[k, k]": 0}
