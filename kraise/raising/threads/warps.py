"""Warp primitives: the value of another lane is the value with the lane's index replaced (raising.md, step 4).

All lanes of a warp run a statement before the next one starts, and what a lane holds is a function of its index: a
shuffle is a substitution. Where the lanes of one warp take different ways (a condition that differs from lane to lane)
it is refused: a lane would read one that does not take part.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import classify, conjuncts
from kraise.analysis.dependence import implied
from kraise.analysis.poly import to_poly
from kraise.diagnostics import refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, UINT32
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.carried.freely import own_only
from kraise.raising.collective.requests import Lanes
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation, tidy
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import reads
from kraise.raising.run.paths import add_path
from kraise.raising.run.state import LocalArray, RawNew, RawWrite, State
from kraise.raising.run.values import Cell, access, provable_here, truth, value
from kraise.raising.threads.row_views import by_launch

_REDUCED = {"sum": "add", "add": "add", "min": "min", "max": "max", "and": "and_", "or": "or_", "xor": "xor"}
ZERO = eq.Const(0, INT)


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
    if [c for c in st.path if cx.lane in free_indices(c) and c not in cx.launch_path and not by_warp(cx, c, cx.lane)]:
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
    own_only(cx, st, v, (cx.lane,), e.span)
    held = Registers(cx, st, e.args[0] if e.args else e, v)
    if e.width > cx.warp:
        _keeps_to_its_part(cx, st, e)
    start = ZERO if e.width >= cx.warp else operation("sub", (lane, operation("mod", (lane, axis.hi), INT)), INT)
    try:
        if e.name in ("any", "all", "ballot", *_REDUCED):
            other = held.at(operation("add", (start, x), INT))
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
            return _shuffled(cx, st, e, held, lane, start, holders)
    except ValueError:
        pass
    raise refuse("KR299", f"this use of {e.name} is not raised yet", e.span)


@dataclass
class Registers:
    """What the lanes of a warp hold at an exchange: a function of the lane, or, where a loop carries it, an array."""

    cx: Context
    st: State
    source: k.Expr
    value: eq.Expr

    def at(self, lane: eq.Expr, inside: eq.Expr = simplify.TRUE) -> eq.Expr:
        """What ``lane`` holds, where it is ``inside`` the warp.

        Raises:
            ValueError: nothing says it.
        """
        own = eq.Index(self.cx.lane or "", INT)
        try:
            return tidy(substitute(self.value, {own: lane}))
        except Unmovable:  # what a loop carries exists along the thread's own index only
            pass
        st = self.st
        version, prefix = self._kept(own)
        subs = tuple(lane if n == own.name else eq.Index(n, INT) for n in prefix)
        node = eq.Read(version, subs, self.value.type)
        st.order += 1
        within = eq.Op("ge", (lane, ZERO), BOOL), eq.Op("lt", (lane, eq.Const(self.cx.warp, INT)), BOOL)
        path = tuple(dict.fromkeys((*add_path(st.path, inside), *(within if inside is simplify.TRUE else ()))))
        st.accesses.append(access(st, Cell(version.array, subs), path, False, node=node))
        return node

    def _kept(self, own: eq.Index) -> tuple[eq.Version, tuple[str, ...]]:
        """The array that holds the registers now, and the indices of its axes.

        Raises:
            ValueError: the last warp has fewer lanes than 32, of which others may be asked.
        """
        cx, st = self.cx, self.st
        threads = cx.threads.get(("blockDim", 0))
        if isinstance(threads, eq.Const) and threads.value.real % 32:
            raise ValueError
        for raw in reversed(st.out):
            if not isinstance(raw, RawWrite) or raw.value is not self.value:
                continue
            array = raw.after.array
            if array in cx.registers_kept and array in st.locals and set(raw.path) <= set(st.path):
                return raw.after, st.locals[array].prefix
        given = self.source.name.lstrip("$") if isinstance(self.source, k.Var) else "held"
        name = f"{given}_by_lane"
        while name in st.versions or name in cx.types:
            name += "_"
        prefix = tuple(n for n in st.open if n not in st.folds)
        before, after = cx.version(name), cx.version(name)
        local = LocalArray(name, prefix, (), self.value.type, "", False, True)
        st.locals[name] = cx.made[name] = local
        st.out.append(RawNew(eq.New(before, self.value.type, (), None)))
        subs = tuple(eq.Index(n, INT) for n in prefix)
        # what a loop carries may be kept by lanes that are done, too: they are not asked
        plain = isinstance(self.value, eq.CarryIn | eq.FoldResult)
        path = tuple(c for c in st.path if not (plain and free_indices(c) - set(prefix)))
        st.out.append(RawWrite(before, after, prefix, path, subs, self.value))
        st.versions[name] = after
        cx.registers_kept.add(name)
        return after, prefix


def by_warp(cx: Context, condition: eq.Expr, lane: str) -> bool:
    """Whether all lanes of a warp answer alike: ``32 * warp + lane < 64``. Where that takes sizes that are multiples of
    32, it is wished that they are: an exchange that names lanes which others have left is not defined."""
    fact, lanes = classify(condition), cx.warp
    index = eq.Index(lane, INT)
    if fact is None or fact.kind != "ge" or not fact.poly.is_affine_in((lane,)):
        return False
    rest = fact.poly.without(index)
    # 32 * q + c - lane >= 0 and 32 * q + c + lane >= 0, with a lane of 0 ... 31
    wanted = {-1: lanes - 1, 1: 0}.get(fact.poly.coefficient(index).value or 0)
    if wanted is None or rest.offset % lanes != wanted:
        return False
    parts = {m: c for m, c in rest.terms.items() if m and c % lanes}
    match list(parts.items()):
        case [((eq.Param() | eq.Shape() as size,), 1)] if not by_launch((size,)):  # of 8 * n, parts of a warp would do
            cx.wished[size] = lanes
    return not parts


def _keeps_to_its_part(cx: Context, st: State, e: k.Warp) -> None:
    """Refuses an exchange of a whole warp where the lanes of a part of it are the index, if it may leave that part.

    Raises:
        Refused: KR299.
    """
    if e.name == "activemask":
        return
    most = _most(st, value(cx, st, e.args[1])) if e.name == "shfl_xor" else None
    if most is None or most >= cx.warp:
        raise refuse("KR299", f"{e.name} may ask lanes beyond each {cx.warp} of a warp", e.span, "say how wide it is")


def _held(cx: Context, st: State, e: k.Expr) -> tuple[eq.Expr, tuple[eq.Expr, ...]]:
    """What the lanes hold, and the conditions under which they do (the result of a tree of shuffles is in one lane)."""
    half = {n: st.partial[n] for n in reads(e) if st.partial.get(n) in cx.halves}
    for n in half:
        del st.partial[n]
    try:
        return value(cx, st, e), tuple(dict.fromkeys(half.values()))
    finally:
        st.partial |= half


def offered(e: object) -> frozenset[str]:
    """The locals that a thread gives to others in the exchanges of an expression."""
    match e:
        case k.Warp(args=(first, *rest)):
            return reads(first).union(*map(offered, rest))
        case k.Op(args=args) | k.Call(args=args) | k.Load(subscripts=args):
            return frozenset().union(*map(offered, args))
        case k.Cast(arg=a):
            return offered(a)
    return frozenset()


def _shuffled(
    cx: Context,
    st: State,
    e: k.Warp,
    held: Registers,
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
            most = _most(st, amount)
            if most is None or most >= min(e.width, cx.warp):
                inside = eq.Op("lt", (source, operation("add", (start, width), INT)), BOOL)
        case _:
            within = provable_here(st, to_poly(amount)) and provable_here(st, to_poly(width) - to_poly(amount) - 1)
            amount = amount if within else operation("mod", (amount, width), INT)
            source = operation("add", (start, amount), INT)
    for c in holders:
        if inside is not simplify.TRUE or not _true(st, tidy(substitute(c, {lane: source}))):
            cx.asked |= cx.halves[c]
            raise refuse(
                "KR299",
                "lanes are read that hold only a part of the sum",
                e.span,
                "read lane 0, which holds all of it, or sum with xor shuffles",
            )
    return simplify.select(inside, held.at(source, inside), held.value, held.value.type)


def _most(st: State, e: eq.Expr) -> int | None:
    """A bound of a number that is not negative: a constant, or one that is shifted."""
    match e:
        case eq.Const(value=int() as v) if v >= 0:
            return v
        case eq.Op(name="shr", args=(a, by)) if provable_here(st, to_poly(by)):
            most = _most(st, a)
            return None if most is None else most >> (by.value if isinstance(by, eq.Const) else 0)  # type: ignore[operator]
        case eq.Op(name="shl", args=(eq.Const(value=int() as v), by)) if 0 < v < 1 << 16:
            top = largest(to_poly(by), st.path)
            further = None if top is None else top.value
            return v << further if further is not None and 0 <= further < 15 else None
        case eq.Cast(arg=a) if e.type.is_integer and (e.type.bits or 32) >= 32:
            return _most(st, a)
    return None


def _true(st: State, c: eq.Expr) -> bool:
    return all((isinstance(x, eq.Const) and bool(x.value)) or implied((*st.path, *st.facts), x) for x in conjuncts(c))


def votes(cx: Context, st: State, bits: eq.Expr) -> eq.Expr | None:
    """The number of lanes that voted, for the population count of a ballot, or of those below a lane, for that of
    ``ballot & (1 << lane) - 1``; None for other bits."""
    below: eq.Expr | None = None
    match bits:
        case eq.Op(name="and_", args=(a, b)):
            a, b = (a, b) if a in cx.ballots else (b, a)
            bits, below = a, _lanes_below(st, b)
            if below is None:
                return None
    if bits not in cx.ballots or cx.lane is None:
        return None
    x = cx.index("lane", (*st.open, *cx.blocks, cx.lane))
    vote = tidy(substitute(cx.ballots[bits], {eq.Index(cx.lane, INT): x}))
    one = simplify.select(vote, eq.Const(1, INT), ZERO, INT)
    where = None if below is None else eq.Op("lt", (x, below), BOOL)
    return eq.Reduce("add", (eq.Axis(x.name, ZERO, eq.Const(cx.warp, INT)),), one, where, INT)


def _lanes_below(st: State, mask: eq.Expr) -> eq.Expr | None:
    """The lane below which all bits of a mask are set, and no others: ``(1 << lane) - 1``, in any integers of 32 bits
    or more, whose low 32 bits are the mask."""

    def bare(e: eq.Expr) -> eq.Expr:
        while isinstance(e, eq.Cast) and e.type.is_integer and (e.type.bits or 64) >= 32 and e.arg.type.is_integer:
            e = e.arg
        return e

    match bare(mask):
        case eq.Op(name="sub", args=(power, eq.Const(value=1))):
            match bare(power):
                case eq.Op(name="shl", args=(eq.Const(value=1), lane)):
                    number = to_poly(bare(lane))
                    if provable_here(st, number) and provable_here(st, -number + 31):
                        return bare(lane)
    return None
