"""What follows from conditions by logic alone."""

import pytest

from kraise.analysis.truth import follows
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT32, INT

T = eq.Param("t", INT)
X, Y = eq.Param("x", FLOAT32), eq.Param("y", FLOAT32)


def is_(n: int) -> eq.Expr:
    return eq.Op("eq", (T, eq.Const(n, INT)), BOOL)


def isnt(n: int) -> eq.Expr:
    return eq.Op("ne", (T, eq.Const(n, INT)), BOOL)


def op(name: str, *args: eq.Expr) -> eq.Expr:
    return eq.Op(name, args, BOOL)


LESS, NOT_LESS = op("lt", X, Y), op("ge", X, Y)


@pytest.mark.parametrize(
    ("path", "condition"),
    [
        ([op("not", op("and", isnt(0), isnt(1)))], op("or", is_(0), is_(1))),
        ([op("not", op("and", isnt(0), op("not", LESS)))], op("or", is_(0), LESS)),
        ([op("or", is_(0), is_(1)), isnt(0)], is_(1)),
        ([op("select", is_(0), LESS, is_(1)), isnt(1)], op("and", is_(0), LESS)),
    ],
)
def test_follows(path, condition):
    assert follows(path, condition)


@pytest.mark.parametrize(
    ("path", "condition"),
    [
        ([op("or", is_(0), is_(1))], is_(0)),
        ([op("not", NOT_LESS)], LESS),  # a NaN is neither
        ([is_(0)], isnt(1)),  # true, but by arithmetic: other proofs know that
        ([], is_(0)),
    ],
)
def test_does_not_follow(path, condition):
    assert not follows(path, condition)
