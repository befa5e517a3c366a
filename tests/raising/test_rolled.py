"""Sums that were written out: one form at each place, or not."""

from kraise.ir import equations as eq
from kraise.ir.types import FLOAT32, INT
from kraise.raising.writes import rolled


def cell(array: str, at: int) -> eq.Expr:
    return eq.Read(eq.Version(array, 0), (eq.Const(at, INT),), FLOAT32)


def power(e: eq.Expr, times: int) -> eq.Expr:
    for _ in range(times):
        e = eq.Op("mul", (e, e), FLOAT32)
    return e


def test_what_is_shared_within_an_addend_is_looked_at_once(monkeypatch):
    """Written out, each addend has a million places: they are no sum over an index, and are not written out."""
    monkeypatch.setattr(rolled, "_form", lambda e: (_ for _ in ()).throw(AssertionError(e)))
    assert rolled.along("add", [power(cell("x", k), 20) for k in range(16)], frozenset(), FLOAT32) is None
    mixed = [power(cell("x", k), 2) for k in range(15)] + [power(cell("z", 15), 2)]
    assert rolled.along("add", mixed, frozenset(), FLOAT32) is None


def test_what_moves_in_step_is_a_sum():
    found = rolled.along("add", [power(cell("x", 2 * k + 1), 2) for k in range(16)], frozenset(), FLOAT32)
    assert isinstance(found, eq.Reduce) and found.axes[0].name == "lane"
    assert isinstance(found.body, eq.Op) and found.body.name == "mul"
    uneven = [power(cell("x", k + (k == 9)), 2) for k in range(16)]
    assert rolled.along("add", uneven, frozenset(), FLOAT32) is None
