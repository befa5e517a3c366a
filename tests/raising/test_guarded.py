"""The conditions under which every use of a value is made."""

from kraise.ir import equations as eq
from kraise.ir.types import BOOL, FLOAT, INT
from kraise.raising.memory.guarded import guards

AT, N = eq.Index("i", INT), eq.Param("n", INT)
INSIDE, LATER = eq.Op("lt", (AT, N), BOOL), eq.Op("gt", (AT, eq.Const(0, INT)), BOOL)
X, ZERO = eq.Read(eq.Version("x", 0), (AT,), FLOAT), eq.Const(0.0, FLOAT)


def write(value, where=None):
    axis = eq.Axis("i", eq.Const(0, INT), N)
    return eq.Write(eq.Version("y", 0), eq.Version("y", 1), (axis,), (AT,), value, where)


def select(c, a, b):
    return eq.Op("select", (c, a, b), FLOAT)


def test_choices_add_up_and_uses_meet():
    both = select(INSIDE, select(LATER, X, ZERO), ZERO)
    assert guards([write(both)])[X] == {INSIDE, LATER}
    assert guards([write(both), write(select(INSIDE, X, ZERO))])[X] == {INSIDE}
    assert guards([write(both), write(X)])[X] == set()
    assert guards([write(X, INSIDE)])[X] == {INSIDE}
    assert INSIDE not in guards([write(select(INSIDE, ZERO, X))])[X]


def test_an_index_that_is_bound_again_says_nothing():
    inner = eq.Reduce("add", (eq.Axis("i", eq.Const(0, INT), N),), X, LATER, FLOAT)
    assert guards([write(select(INSIDE, inner, ZERO))])[X] == {LATER}
