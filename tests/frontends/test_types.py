"""Types of locals, parameters and results."""

from __future__ import annotations

import re

import pytest

from kraise.frontends.python.promotion import promote
from kraise.ir.types import (
    BOOL,
    COMPLEX,
    COMPLEX64,
    COMPLEX128,
    FLOAT,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT,
    INT8,
    INT16,
    INT32,
    INT64,
    NUMBER,
    UINT8,
    UINT32,
    UINT64,
)

from .conftest import body, lower, refusals


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (BOOL, INT, INT),
        (INT, NUMBER, NUMBER),
        (FLOAT, NUMBER, NUMBER),
        (COMPLEX, NUMBER, COMPLEX),
        (INT, FLOAT32, FLOAT32),
        (FLOAT, FLOAT32, FLOAT32),
        (FLOAT, INT32, FLOAT),
        (COMPLEX, FLOAT32, COMPLEX64),
        (COMPLEX, INT64, COMPLEX),
        (INT32, UINT32, INT64),
        (INT64, UINT64, FLOAT64),
        (INT8, UINT8, INT16),
        (INT32, FLOAT32, FLOAT64),
        (INT8, FLOAT16, FLOAT16),
        (FLOAT32, COMPLEX64, COMPLEX64),
        (FLOAT64, COMPLEX64, COMPLEX128),
    ],
)
def test_promotion(a, b, expected):
    assert promote(a, b) == promote(b, a) == expected


def test_sized_promotion_is_numpys():
    import numpy as np

    from kraise.ir.types import BY_NAME

    sized = {n: t for n, t in BY_NAME.items() if n not in ("bool", "bfloat16")}
    for a, s in sized.items():
        for b, t in sized.items():
            assert str(promote(s, t)) == str(np.promote_types(a, b)), (a, b)


def test_integers_by_use():
    text = lower("""
        def k(x, y, n, start, stride, t, scale, lo, width, power):
            m = n * 2
            for i in range(start, m, stride):
                if i < lo + 1 and x[i] > t:
                    y[i * width] = x[i] * scale + i * power
    """)
    assert text.splitlines()[0] == (
        "plain k(x: number[1], y: number[1], n: int, start: int, stride: int, t: number, scale: number, lo: int, "
        "width: int, power: number):"
    )


def test_integers_through_helpers():
    text = lower(
        """
        def at(a, i, w):
            return a[i] * w
        @cuda.jit
        def k(x, n, w):
            x[0] = at(x, n, w)
    """
    )
    assert text.splitlines()[0] == "kernel k(x: number[1], n: int, w: number):"


def test_locals_join_their_assignments():
    text = body("""
        def k(x, n):
            s = 0
            c = 0
            h = 0
            z = 1
            for i in range(n):
                s += x[i]
                c += 1
                h = c / 2
                z = z * 1j
            x[0] = s + c + h + z.real
    """)
    types = {line.split(":")[0].strip(): line.split(":")[1].split("=")[0].strip() for line in text.splitlines()[:4]}
    assert types == {"s": "number", "c": "int", "h": "float", "z": "complex"}


WEBS = """def f(x, y):
    for i in range(len(x)):
        p = x[i] * 2
        y[i] = p
    for i in range(len(x)):
        p = 0
        while p < len(x) and x[p] > 0.5:
            p += 1
        y[i] += p
    {use}
"""


@pytest.mark.parametrize(
    "use, names",
    [
        ("return y", {"p": "number", "p_2": "int"}),  # unrelated values have a name each
        ("return p", {"p": "number"}),  # without a round of the second loop this is the first one's
    ],
)
def test_a_local_of_two_meanings_is_two_locals(use, names):
    said = re.findall(r"^ *(p\w*): (\w+) =", body(WEBS.format(use=use)), re.MULTILINE)
    assert dict(said) == names


def test_numbers_as_conditions_are_compared_with_zero():
    assert "if x[0] != 0:" in body("@cuda.jit\ndef k(x):\n    if x[0]:\n        x[0] = 1\n")


def test_a_local_constant_makes_a_shape():
    assert "shared s: float32[8]" in body(
        "@cuda.jit\ndef k(x):\n    n = 8\n    s = cuda.shared.array(n, np.float32)\n    x[0] = s[0]\n"
    )


def test_declared_and_used_ranks_must_agree():
    assert refusals("@cuda.jit('void(float32[:])')\ndef k(x):\n    x[0, 1] = 1\n") == [("KR104", 2, "k")]


def test_a_problem_in_a_plain_helper_is_reported_with_its_caller():
    source = "def h(a):\n    t = 0\n    for v in a:\n        t += foo(v)\n    return t\n"
    source += "def k(x):\n    for i in range(3):\n        x[i] = h(x)\n"
    assert refusals(source) == [("KR103", 4, "h"), ("KR103", 8, "k")]
