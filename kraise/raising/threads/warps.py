"""Warp primitives: the value of another lane is the value with the lane's index replaced (raising.md, step 4).

All lanes of a warp run a statement before the next one starts, and what a lane holds is a function of its index: a
shuffle is a substitution. Where the lanes of one warp take different ways (a condition that differs from lane to lane)
it is refused: a lane would read one that does not take part.
"""

from __future__ import annotations

from kraise.analysis.conditions import classify, conjuncts
from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, UINT32
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.collective.requests import Lanes
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import reads
from kraise.raising.run.state import State
from kraise.raising.run.values import provable_here, truth, value

_REDUCED = {"sum": "add", "add": "add", "min": "min", "max": "max"}
ZERO, WARP = eq.Const(0, INT), eq.Const(32, INT)


def exchange(cx: Context, st: State, e: k.Warp) -> eq.Expr:
    """The value of a warp primitive.

    Raises:
        Lanes: the lane is no index yet.
        Refused: lanes that do not take part may be read, or the primitive has no form.
    """
    if cx.lane is None:
        if ("thread", 0) not in cx.threads:
            reason = "which lanes a warp has is not said: threadIdx.x does not occur"
            raise refuse("KR299", reason, e.span, "take the lane from threadIdx.x")
        raise Lanes
    lane = eq.Index(cx.lane, INT)
    if any(cx.lane in free_indices(c) and c not in cx.launch_path and not by_warp(c, cx.lane) for c in st.path):
        raise refuse(
            "KR206",
            "lanes of one warp may come here under a condition that differs from lane to lane",
            e.span,
            "take the exchange out of the condition and give the other lanes a neutral value",
        )
    x = cx.index("lane", (*st.open, *cx.blocks, cx.lane))
    axis = eq.Axis(x.name, ZERO, eq.Const(e.width, INT))
    if e.name == "activemask":
        return eq.Const(0xFFFFFFFF, UINT32)
    if e.name.startswith("shfl"):
        v, holders = _held(cx, st, e.args[0])
    else:
        v, holders = truth(cx, st, e.args[0]) if e.name in ("ballot", "any", "all") else value(cx, st, e.args[0]), ()
    if any(isinstance(n, eq.CarryIn) and all(a.name != cx.lane for a in n.axes) for n in topological((v,))):
        # what a loop carries has no axes yet: another lane's cannot be told from the thread's own
        reason = "lanes exchange what this loop carries from round to round"
        raise refuse("KR299", reason, e.span, "write the rounds out, or use a sum, minimum or maximum over the lanes")
    start = ZERO if e.width == 32 else operation("sub", (lane, operation("mod", (lane, axis.hi), INT)), INT)
    try:
        if e.name in ("any", "all", "ballot", *_REDUCED):
            other = tidy(substitute(v, {lane: operation("add", (start, x), INT)}))
            if e.name in ("any", "all"):
                found = eq.Reduce("or" if e.name == "any" else "and", (axis,), other, None, BOOL)
                return found if e.type.kind == "bool" else simplify.cast(e.type, found)
            if e.name == "ballot":
                one = eq.Const(1, UINT32)
                bit = eq.Op("shl", (one, eq.Cast(UINT32, x)), UINT32)
                bits = eq.Reduce("add", (axis,), simplify.select(other, bit, eq.Const(0, UINT32)), None, UINT32)
                cx.ballots[bits] = v
                return bits
            return eq.Reduce(_REDUCED[e.name], (axis,), other, None, v.type)
        if e.name.startswith("shfl"):
            return _shuffled(cx, st, e, v, lane, start, holders)
    except ValueError:
        pass
    raise refuse("KR299", f"this use of {e.name} is not raised yet", e.span)


def by_warp(condition: eq.Expr, lane: str) -> bool:
    """Whether all lanes of a warp answer alike: ``32 * warp + lane < 64``."""
    fact = classify(condition)
    index = eq.Index(lane, INT)
    if fact is None or fact.kind != "ge" or not fact.poly.is_affine_in((lane,)):
        return False
    rest = fact.poly.without(index)
    if any(c % 32 for m, c in rest.terms.items() if m):
        return False
    # 32 * q + c - lane >= 0 and 32 * q + c + lane >= 0, with a lane of 0 ... 31
    wanted = {-1: 31, 1: 0}.get(fact.poly.coefficient(index).value or 0)
    return wanted is not None and rest.offset % 32 == wanted


def _held(cx: Context, st: State, e: k.Expr) -> tuple[eq.Expr, tuple[eq.Expr, ...]]:
    """What the lanes hold, and the conditions under which they do (the result of a tree of shuffles is in one lane)."""
    half = {n: st.partial[n] for n in reads(e) if st.partial.get(n) in cx.halves}
    for n in half:
        del st.partial[n]
    try:
        return value(cx, st, e), tuple(dict.fromkeys(half.values()))
    finally:
        st.partial |= half


def _shuffled(
    cx: Context,
    st: State,
    e: k.Warp,
    v: eq.Expr,
    lane: eq.Index,
    start: eq.Expr,
    holders: tuple[eq.Expr, ...],
) -> eq.Expr:
    amount = value(cx, st, e.args[1])
    width = eq.Const(e.width, INT)
    inside: eq.Expr = simplify.TRUE
    match e.name:
        case "shfl_up":
            source = operation("sub", (lane, amount), INT)
            inside = eq.Op("ge", (source, start), BOOL)
        case "shfl_down":
            source = operation("add", (lane, amount), INT)
            inside = eq.Op("lt", (source, operation("add", (start, width), INT)), BOOL)
        case "shfl_xor":
            source = simplify.op("xor", (lane, amount), INT)
            small = isinstance(amount, eq.Const) and isinstance(amount.value, int) and 0 <= amount.value < e.width
            if not small:
                inside = eq.Op("lt", (source, operation("add", (start, width), INT)), BOOL)
        case _:
            within = provable_here(st, to_poly(amount)) and provable_here(st, to_poly(width) - to_poly(amount) - 1)
            amount = amount if within else operation("mod", (amount, width), INT)
            source = operation("add", (start, amount), INT)
    for c in holders:
        if inside is not simplify.TRUE or not _true(st, tidy(substitute(c, {lane: source}))):
            raise refuse(
                "KR299",
                "lanes are read that hold only a part of the sum",
                e.span,
                "read lane 0, which holds all of it, or sum with xor shuffles",
            )
    other = tidy(substitute(v, {lane: source}))
    return simplify.select(inside, other, v, v.type)


def _true(st: State, c: eq.Expr) -> bool:
    return all((isinstance(x, eq.Const) and bool(x.value)) or implied((*st.path, *st.facts), x) for x in conjuncts(c))


def votes(cx: Context, st: State, bits: eq.Expr) -> eq.Expr | None:
    """The number of lanes that voted, for the population count of a ballot; None for other bits."""
    if bits not in cx.ballots or cx.lane is None:
        return None
    x = cx.index("lane", (*st.open, *cx.blocks, cx.lane))
    vote = tidy(substitute(cx.ballots[bits], {eq.Index(cx.lane, INT): x}))
    one = simplify.select(vote, eq.Const(1, INT), ZERO, INT)
    return eq.Reduce("add", (eq.Axis(x.name, ZERO, WARP),), one, None, INT)
