"""The nodes of Kernel IR in a statement are found once."""

import pytest

from kraise.ir import kernel as k
from kraise.ir import rewrite
from kraise.ir.rename import within
from kraise.ir.rewrite import parts_of, walked
from kraise.ir.types import BOOL, FLOAT, INT

X, Y = k.Var("x", FLOAT), k.Load("a", (k.Var("i", INT),), FLOAT)
LOOP = k.For(
    "i", k.Const(0, INT), k.Var("n", INT), k.Const(1, INT), (k.Assign("x", k.Op("add", (X, Y), FLOAT), FLOAT),)
)
BODY = (k.If(k.Op("lt", (X, Y), BOOL), (LOOP, k.Store("a", (k.Var("j", INT),), X)), (LOOP,)), LOOP)


def plainly(x):
    """A node before what it holds, the last first."""
    if isinstance(x, tuple):
        return [n for item in reversed(x) for n in plainly(item)]
    parts = parts_of(type(x))
    return [] if parts is None else [x, *(n for p in reversed(parts) for n in plainly(getattr(x, p)))]


def same(found, wanted):
    return list(map(id, found)) == list(map(id, wanted))


def test_all_nodes_in_one_order():
    for _ in range(2):  # the second time they are known
        for x in (BODY, *plainly(BODY), [BODY, LOOP], "x", None):
            assert same(walked(x), plainly(tuple(x) if isinstance(x, list) else x))


def test_a_statement_is_walked_once(monkeypatch):
    statement = k.If(k.Op("lt", (Y, X), BOOL), (LOOP,))
    first = list(walked(statement))
    monkeypatch.setattr(rewrite, "_walked", lambda stack: pytest.fail("it was walked again"))
    assert same(walked((statement,)), first)


def test_what_is_known_of_a_statement_is_no_part_of_it():
    one, two = (k.Assign("x", k.Op("add", (X, Y), FLOAT), FLOAT) for _ in range(2))
    list(walked(one))
    assert one == two and repr(one) == repr(two) and hash(one) == hash(two)


@pytest.mark.parametrize("kind", [k.Var, k.For, (k.Load, k.Store), k.Barrier])
def test_the_nodes_of_a_kind_in_order(kind):
    def inside(x):
        if isinstance(x, tuple):
            return [n for item in x for n in inside(item)]
        below = [n for p in parts_of(type(x)) or () for n in inside(getattr(x, p))]
        return [x, *below] if isinstance(x, kind) else below

    assert same(within(BODY, kind), inside(BODY))
