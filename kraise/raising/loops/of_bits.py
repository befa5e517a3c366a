"""Short loops that put the bits of an index in another order (``for (b = 0; b < 5; b++) { r = r << 1 | v & 1; v >>= 1;
}``) written out: the result is a place like another (:mod:`kraise.raising.run.bit_places`), and no loop computes it.

The side conditions: a number of rounds that is known and small, only assignments of integers that take bits from
integers by shifts, masks and powers of two, and nothing of an array in them.
"""

from __future__ import annotations

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.rewrite import walked
from kraise.ir.types import INT
from kraise.ir.walk import topological
from kraise.raising.loops.ranges import Range
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import exposed
from kraise.raising.run.state import State

_ROUNDS, _OPERATIONS = 16, 96
_BITWISE = ("or_", "and_", "xor", "shl", "shr", "add", "sub")
_BY_TWO = ("mul", "tdiv", "tmod", "floordiv", "mod")


def written_out(cx: Context, st: State, s: k.For, rng: Range, live: frozenset[str]) -> bool:
    """Runs such a loop; returns False, having done nothing, if it is none."""
    from kraise.raising.run.statements import block

    first, last = to_poly(rng.start).value, to_poly(rng.stop).value
    if first is None or last is None or s.orelse or s.var in live:
        return False
    rounds = range(first, last, rng.step)
    operations = [n for n in walked(s.body) if isinstance(n, k.Op)]
    if not 1 < len(rounds) <= _ROUNDS or len(operations) * len(rounds) > _OPERATIONS:
        return False
    if not all(isinstance(x, k.Assign) and x.type.is_integer for x in s.body) or not all(map(_of_bits, walked(s.body))):
        return False
    read = exposed(s.body, frozenset()) - {s.var}
    if not read <= st.env.keys() - st.partial.keys() or not all(map(_plain, (st.env[n] for n in read))):
        return False
    for at in rounds:
        block(cx, st, (k.Assign(s.var, k.Const(at, INT), s.type or INT, span=s.span), *s.body), live | read)
    return True


def _of_bits(n: object) -> bool:
    match n:
        case k.Op(name=name, args=(_, k.Const(value=int() as by))) if name in _BY_TWO:
            return by > 0 and by & (by - 1) == 0
        case k.Op(name=name):
            return name in _BITWISE
        case k.Cast(type=t):
            return t.is_integer
    return isinstance(n, k.Assign | k.Const | k.Var)


def _plain(e: eq.Expr) -> bool:
    """Whether a number is made of indices, sizes and constants alone."""
    made_of = eq.Index | eq.Const | eq.Param | eq.Op | eq.Cast
    return e.type.is_integer and all(isinstance(n, made_of) for n in topological((e,)))


__all__ = ["written_out"]
