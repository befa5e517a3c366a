"""Pairs that a tree in shared memory combines: an extremum, and a sum that is kept relative to it.

``n = max(m[t], m[t + w]); d[t] = d[t] * exp(m[t] - n) + d[t + w] * exp(m[t + w] - n); m[t] = n`` keeps ``d * exp(m)`` a
plain sum (:mod:`kraise.raising.collective.relative` has the same of the lanes of a warp). The tree is looked at without
these factors: what it leaves in cell 0 is the sum of ``d * exp(m - n)``, with n the extremum of all.

Side conditions, each checked: the sum's step is, where one cell's extremum is that of both and where the other's is,
this one's sum and the other's times the exponential of what they are apart (whatever it looks like); both cells of the
sum stand where those of the extremum do, for the same threads; what :mod:`kraise.raising.carried.rebased` asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kraise.ir import equations as eq
from kraise.ir.operations import TURNED
from kraise.ir.walk import topological
from kraise.raising.carried.rebased import demand_elements, met_elements, rebased
from kraise.raising.memory.ranged import box
from kraise.raising.memory.tree_threads import uncast
from kraise.raising.optimistic import decided
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawWrite, State

_EXPONENTIALS = ("exp", "exp2")


@dataclass(frozen=True)
class Relative:
    """The array of the extremum that the sums in an array are relative to, and by which exponential."""

    extremum: str
    exponential: str


def plain(raws: Sequence[Raw]) -> tuple[list[Raw], dict[str, Relative]]:
    """The stores of a round with plain sums in place of those that are relative to an extremum, and which these are."""
    out, found = [*raws], {}
    for top in raws:
        if not isinstance(top, RawWrite) or top.accumulate not in ("max", "min") or not top.value.type.is_inexact:
            continue
        other = uncast(top.value)
        if not isinstance(other, eq.Read) or other.version is not top.before:
            continue
        for i, r in enumerate(out):
            if not isinstance(r, RawWrite) or r.accumulate or r.path != top.path or r.subscripts != top.subscripts:
                continue
            kind = r.value.type
            cells = (eq.Read(r.before, r.subscripts, kind), eq.Read(r.before, other.subscripts, kind))
            extrema = (eq.Read(top.before, top.subscripts, other.type), other)
            if r.before.array != top.before.array and (by := _relative(r.value, cells, extrema, top.accumulate)):
                found[r.before.array] = Relative(top.before.array, by)
                out[i] = replace(r, accumulate="add", value=cells[1])
    return out, found


def put_back(cx: Context, st: State, raws: Sequence[RawWrite], sums: Mapping[str, Relative]) -> list[RawWrite] | None:
    """What the tree leaves, with its factors: None where the cells of a pair are not the same, or a thread may have met
    no element."""
    made: list[RawWrite] = []
    tops = {r.after.array: r.value for r in raws}
    asked: list[eq.Expr] = []
    for r in raws:
        if (found := sums.get(r.after.array)) is not None:
            top, total = tops.get(found.extremum), r.value
            if not isinstance(top, eq.Reduce) or not isinstance(total, eq.Reduce):
                return None
            if any(isinstance(n, eq.Read) and n.version.array in st.locals for n in topological((top,))):
                return None  # nothing says what these cells hold
            within = (*box(top.axes), *(() if top.where is None else (top.where,)))
            lanes = replace(st, path=(*st.path, *within))
            met, whole = met_elements(lanes, top.body), rebased(total, top, found.exponential)
            if met is None or whole is None or any(decided(c) is False for c in met):
                return None
            asked += met
            r = replace(r, value=whole)
        made.append(r)
    demand_elements(cx, asked)
    return made


def _relative(e: eq.Expr, sums: tuple[eq.Expr, eq.Expr], extrema: tuple[eq.Expr, eq.Expr], op: str) -> str:
    """The exponential by which the lesser half of a pair is scaled to the extremum of both; "" if neither is so."""
    found: set[str] = set()
    for i in (0, 1):
        kept, moved, top, low = sums[i], sums[1 - i], extrema[i], extrema[1 - i]
        arm = _arm(e, top, low, op)
        if not isinstance(arm, eq.Op) or arm.name != "add":
            return ""
        ways = [b for a, b in (arm.args, arm.args[::-1]) if _close(a) is kept]
        found.add(next((by for b in ways if (by := _scale(b, moved, low, top, op))), ""))
    return found.pop() if len(found) == 1 else ""


def _scale(e: eq.Expr, value: eq.Expr, low: eq.Expr, top: eq.Expr, op: str) -> str:
    """The exponential in ``value * exp(low - top)`` (of a minimum ``exp(top - low)``)."""
    e = _close(e)
    if not isinstance(e, eq.Op) or e.name != "mul":
        return ""
    apart = (low, top) if op == "max" else (top, low)
    for a, b in (e.args, e.args[::-1]):
        b = _close(b)
        if _close(a) is value and isinstance(b, eq.Op) and b.name in _EXPONENTIALS:
            d = _close(b.args[0])
            if isinstance(d, eq.Op) and d.name == "sub" and tuple(map(_close, d.args)) == apart:
                return b.name
    return ""


def _close(e: eq.Expr) -> eq.Expr:
    """``e`` without conversions from one type of floats to another."""
    while isinstance(e, eq.Cast) and e.type.is_inexact and e.arg.type.is_inexact:
        e = e.arg
    return e


def _arm(e: eq.Expr, top: eq.Expr, low: eq.Expr, op: str) -> eq.Expr:
    """What ``e`` is where ``top`` is the extremum of both (where they are equal, either arm says the same)."""
    above = ("gt", "ge") if op == "max" else ("lt", "le")
    memo: dict[eq.Expr, eq.Expr] = {}
    for n in topological((e,)):
        now = n
        if isinstance(n, eq.Op):
            args = tuple(memo[a] for a in n.args)
            now = eq.Op(n.name, args, n.type)
            match n.name, args:
                case "max" | "min", (a, b) if {_close(a), _close(b)} == {top, low}:
                    now = top if n.name == op else low
                case "select", (eq.Const(value=bool() as holds), a, b):
                    now = a if holds else b
                case "not", (eq.Const(value=bool() as holds),):
                    now = eq.Const(not holds, n.type)
                case name, (a, b) if name in TURNED and {_close(a), _close(b)} == {top, low}:
                    first = name if _close(a) is top else TURNED[name]
                    now = now if first in ("eq", "ne") else eq.Const(first in above, n.type)
                case "sub", (a, b) if _close(a) is _close(b):
                    now = eq.Const(0.0, n.type)
                case (("exp" | "exp2"), (eq.Const(value=0),)):
                    now = eq.Const(1.0, n.type)
                case "mul", (a, b) if any(isinstance(x, eq.Const) and x.value == 1 for x in args):
                    now = b if isinstance(a, eq.Const) and a.value == 1 else a
        elif isinstance(n, eq.Cast):
            arg = memo[n.arg]
            const = isinstance(arg, eq.Const) and n.type.is_inexact and arg.type.is_inexact
            now = arg if const else simplify.cast(n.type, arg)
        memo[n] = now
    return memo[e]


__all__ = ["Relative", "plain", "put_back"]
