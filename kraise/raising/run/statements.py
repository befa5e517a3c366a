"""Statements of Kernel IR run for all instances at once (raising.md, steps 3 and 4)."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify, conjuncts, negate
from kraise.analysis.poly import to_poly
from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import topological
from kraise.raising.collective.opened import opened
from kraise.raising.memory.blank import check_begun
from kraise.raising.memory.new_arrays import initial, new_array
from kraise.raising.memory.phases import barrier, level
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.arms import seen, unseen
from kraise.raising.run.context import Context
from kraise.raising.run.conversions import arms_alike, is_true
from kraise.raising.run.liveness import exposed, reads
from kraise.raising.run.paths import add_path, decided
from kraise.raising.run.state import RawWrite, State
from kraise.raising.run.values import Cell, access, load, located, truth, value
from kraise.raising.writes.accumulate import contribution, replacement
from kraise.raising.writes.by_bits import of_floats
from kraise.raising.writes.clamps import clamped
from kraise.raising.writes.counters import counted, counts_freely, limit_of
from kraise.raising.writes.filled_extrema import parts

_ATOMIC = {
    "add": "add",
    "sub": "add",
    "mul": "mul",
    "min": "min",
    "max": "max",
    "and": "and_",
    "or": "or_",
    "xor": "xor",
}


def block(cx: Context, st: State, stmts: tuple[k.Stmt, ...], live: frozenset[str]) -> None:
    """Runs ``stmts`` in ``st``; ``live`` are the locals read after them.

    Raises:
        Refused: a statement has no raised form.
    """
    if cx.cooperative:
        stmts = opened(cx, st, stmts)
    after = [live]
    for s in reversed(stmts):
        after.append(exposed((s,), after[-1]))
    after.reverse()
    at = 0
    while at < len(stmts):
        done = _jointly(cx, st, stmts[at:], after[at + 1 :]) if cx.cooperative else 0
        if not done:
            statement(cx, st, stmts[at], after[at + 1])
        at += done or 1


def _jointly(cx: Context, st: State, stmts: tuple[k.Stmt, ...], after: list[frozenset[str]]) -> int:
    """Runs the statements at the front in which threads compute sums together; returns how many."""
    from kraise.raising.collective.apply import collective  # loads numpy

    return collective(cx, st, stmts, after)


def statement(cx: Context, st: State, s: k.Stmt, live: frozenset[str]) -> None:
    cx.step(s.span)
    match s:
        case k.Assign():
            with_halves(cx, st, s)
        case k.Store(array=array, subscripts=subs, value=v):
            new = value(cx, st, v)
            store(cx, st, array, tuple(value(cx, st, x) for x in subs), new, s.span)
        case k.Atomic():
            _atomic(cx, st, s)
        case k.If(condition=c, body=body, orelse=orelse):
            _if(cx, st, truth(cx, st, c), body, orelse, live)
        case k.For():
            cx.loop(st, s, live)
        case k.While():
            cx.while_loop(st, s, live)
        case k.LocalArray():
            _new(cx, st, s)
        case k.CallStmt():
            cx.call(st, s)
        case k.Barrier():
            barrier(cx, st, s)
        case _:
            raise refuse("KR299", f"{type(s).__name__} is not raised yet", s.span)


def with_halves(cx: Context, st: State, s: k.Assign) -> None:
    """An assignment; what is made of a value that one thread alone has (the result of a tree of shuffles), that thread
    alone has."""
    half = {n: st.partial[n] for n in _own_reads(s.value) if st.partial.get(n) in cx.halves} if cx.halves else {}
    if any(set(conjuncts(c)) <= set(st.path) for c in half.values()):
        half = {}
    if half:  # other lanes ask for their parts of what is exchanged
        from kraise.raising.threads.warps import offered

        half = {n: c for n, c in half.items() if n not in offered(s.value)}
    for n in half:
        del st.partial[n]
    new = value(cx, st, s.value)
    if s.type.is_integer and new.type.kind == "bool":
        new = simplify.cast(s.type, new)  # what is added to it counts
    st.partial |= half
    assign(cx, st, s.name, new, s.span)
    if half:
        where = simplify.conjunction(*dict.fromkeys(half.values()))
        st.partial[s.name] = where
        cx.halves[where] = frozenset().union(*(cx.halves[c] for c in half.values()))


def _own_reads(e: object) -> frozenset[str]:
    """The locals that a thread reads of its own, not through an exchange."""
    match e:
        case k.Warp(args=(_, *rest)):
            return frozenset().union(*map(reads, rest))
        case k.Op(args=args) | k.Call(args=args) | k.Load(subscripts=args):
            return frozenset().union(*map(_own_reads, args))
        case k.Cast(arg=a):
            return _own_reads(a)
    return reads(e)


def assign(cx: Context, st: State, name: str, new: eq.Expr, span: Span | None) -> None:
    st.env[name] = new
    st.partial.pop(name, None)
    if isinstance(new, eq.Index) and new.name in cx.digits and not name.startswith("$"):
        cx.digit_names.setdefault(cx.digits[new.name], name)
    meant = isinstance(new, eq.Shape) or not (index_like(new) or isinstance(new, eq.Const | eq.Param))
    if meant and not name.startswith("$"):
        st.names.setdefault(new, eq.Name(new, name, span))


def store(cx: Context, st: State, array: str, subscripts: tuple[eq.Expr, ...], new: eq.Expr, span: Span | None) -> None:
    """``array[subscripts] = new``: a plain write, or an accumulation if the new value combines the cell with
    something."""
    at = located(cx, st, array, subscripts, span)
    name, subs = at.array, at.subscripts
    new = is_true(new) if _element(cx, st, name, new).kind == "bool" else new
    cell = st.cells.get(name)
    if cell is not None and cell[0] == subs:
        st.env[cell[1]] = new
        return
    st.order += 1
    own = eq.Read(seen(st, name), subs, _element(cx, st, name, new), at.view)
    if (how := contribution(new, own)) is not None and how.op == "":
        return
    if name in st.slides:
        path, new = _every_round(st.path, own, new)
        st.env[st.slides[name][0][1] + "$next"] = new
        _write(cx, st, at, path, new, "", False, span)
        return
    path, op, amount = st.path, "", new
    if how is not None and how.op in ("add", "mul", "min", "max") and how.value is not None:
        path = st.path if how.where is None else add_path(st.path, how.where)
        op, amount = how.op, how.value
    else:
        # `if e < cell: cell = e`
        for c in st.path:
            found = replacement(c, own, new)
            if found is not None:
                path = tuple(x for x in st.path if x is not c)
                path = path if found.where is None else add_path(path, found.where)
                op = found.op
                break
    if op:
        st.accesses[:] = [replace(a, own=True) if a.node is own else a for a in st.accesses]
    _write(cx, st, at, path, amount, op, False, span)


def _every_round(path: tuple[eq.Expr, ...], own: eq.Read, new: eq.Expr) -> tuple[tuple[eq.Expr, ...], eq.Expr]:
    """``if e < cell: cell = e`` as the store of an extremum in every round, as which the loop's accesses count it."""
    for c in path:
        found = replacement(c, own, new)
        if found is not None and found.where is None:
            return tuple(x for x in path if x is not c), simplify.op(found.op, (own, new), own.type)
    return path, new


def _element(cx: Context, st: State, name: str, new: eq.Expr) -> ScalarType:
    from kraise.raising.run.context import array_type

    if name in st.locals:
        return st.locals[name].type
    t = array_type(cx.function, name)
    return new.type if t is None else t.element


def _write(
    cx: Context,
    st: State,
    at: Cell,
    path: tuple[eq.Expr, ...] | None,  # None: some thread does it, once
    amount: eq.Expr,
    op: str,
    atomic: bool,
    span: Span | None,
) -> None:
    name, subs = at.array, at.subscripts
    if not cx.coarse.keys() <= cx.sharing.keys():
        raise refuse("KR299", "this store is not among the elements of a tile that a thread does", span)
    if op:
        check_begun(st, name, span)
    before = st.versions[name]
    after = cx.version(name)
    st.versions[name] = after
    if before in cx.clobbered:
        cx.clobbered.add(after)
    loops, path = (() if path is None else tuple(n for n in st.open if n not in st.folds)), path or ()
    st.out.append(RawWrite(before, after, loops, path, subs, amount, op, at.view, span))
    st.accesses.append(access(st, at, path, True, accumulate=op, atomic=atomic, value=amount, span=span))


def _atomic(cx: Context, st: State, s: k.Atomic) -> None:
    if s.result:
        raise refuse(
            "KR203",
            f"the old value of this atomic {s.name} is used: it depends on the order of the threads",
            s.span,
            _CAS_HINT if s.name == "cas" else _SLOT_HINT,
        )
    name = s.name
    amount = value(cx, st, s.values[0])
    place = tuple(value(cx, st, x) for x in s.subscripts)
    place = tuple(simplify.cast(INT, x) if x.type == BOOL else x for x in place)  # no mask: 0 or 1
    if name in ("inc", "dec") and counts_freely(s.type, amount):
        # the limit is the greatest number of the type: the wrap-around of the type itself
        amount, name = eq.Const(1, s.type), "add" if name == "inc" else "sub"
    if name in ("min_bits", "max_bits"):
        name = of_floats(name, amount, st.path, s.span)
    if name == "exch":
        # the race check demands that all threads store one value
        store(cx, st, s.array, place, amount, s.span)
        return
    if name not in _ATOMIC:
        if name in ("inc", "dec"):
            at = located(cx, st, s.array, place, s.span)
            limit = limit_of(amount)
            if limit is not None and counted(cx, st, at, name, limit, s.type, s.span):
                return
            hint = "count with atomicAdd, and take the remainder by limit + 1 where the count is read"
            raise refuse("KR299", f"atomic {name} wraps round at a limit", s.span, hint)
        raise refuse("KR299", f"atomic {name} is not raised", s.span, _CAS_HINT)
    at = located(cx, st, s.array, place, s.span)
    if name == "sub":
        amount = simplify.op("neg", (amount,), amount.type)
    st.order += 1
    for part, path in parts(cx, st, name, amount, at.subscripts):
        _write(cx, st, at, path, part, _ATOMIC[name], True, s.span)


_SLOT_HINT = (
    "an atomic whose result is not used is raised; places that a counter hands out come from a running sum of the "
    "flags (cumsum), which gives them in order; the ticket by which the last block goes on needs a __threadfence() "
    "before it"
)
_CAS_HINT = (
    "a loop that adds, or keeps the greater or smaller value, is raised: do { assumed = old; old = atomicCAS(p, "
    "assumed, assumed + v); } while (assumed != old);"
)


def _if(
    cx: Context,
    st: State,
    condition: eq.Expr,
    body: tuple[k.Stmt, ...],
    orelse: tuple[k.Stmt, ...],
    live: frozenset[str],
) -> None:
    if isinstance(condition, eq.Const):
        block(cx, st, body if condition.value else orelse, live)
        return
    known = decided(st, condition)
    if known is not None:  # what an arm that no instance takes would say of its loads is void
        block(cx, st, body if known else orelse, live)
        return
    path, before, partial = st.path, dict(st.env), dict(st.partial)
    st.path = add_path(path, condition)
    start, versions, hidden = len(st.out), dict(st.versions), st.unseen
    with level(cx, st, body):
        block(cx, st, body, live)
    middle = len(st.out)
    taken, first = st.env, st.partial
    st.env, st.partial = dict(before), dict(partial)
    st.path, st.unseen = add_path(path, negate(condition)), unseen(cx, st, versions)
    with level(cx, st, orelse):
        block(cx, st, orelse, live)
    other, second, st.unseen = st.env, st.partial, hidden
    if (middle, len(st.out)) == (start + 1, start + 2):
        _one_store(st, condition, path)
    st.path = path  # before the arms are merged: what a merged value is may follow from the path
    st.env = merged(st, condition, taken, other)
    st.partial = {}
    for n in st.env:
        a = first.get(n) if n in taken else simplify.FALSE
        b = second.get(n) if n in other else simplify.FALSE
        if a is not None and a is b:
            st.partial[n] = a
        elif a is not None or b is not None:
            st.partial[n] = simplify.disjunction(
                simplify.conjunction(condition, a), simplify.conjunction(negate(condition), b)
            )


def _one_store(st: State, condition: eq.Expr, path: tuple[eq.Expr, ...]) -> None:
    """``if c: y[i] = a`` / ``else: y[i] = b`` is one store of a select, unless c bounds one index (slices then)."""
    first, second = st.out[-2:]
    if not isinstance(first, RawWrite) or not isinstance(second, RawWrite) or second.before is not first.after:
        return
    same = (first.subscripts, first.view, first.loops) == (second.subscripts, second.view, second.loops)
    facts = [classify(c) for c in conjuncts(condition)]
    data = any(isinstance(n, eq.Read) for n in topological((condition,)))
    slices = not data and all(f is not None and len(f.poly.indices()) <= 1 for f in facts)
    if not same or slices or first.accumulate or second.accumulate:
        return
    if set(first.path) != set(add_path(path, condition)) or set(second.path) != set(add_path(path, negate(condition))):
        return
    nodes = topological((second.value, *second.path, *second.subscripts))
    if any(isinstance(n, eq.Read) and n.version is first.after for n in nodes):
        return
    value = simplify.select(condition, first.value, second.value, _join(first.value, second.value))
    st.out[-2:] = [replace(second, before=first.before, path=path, value=value)]


def merged(
    st: State,
    condition: eq.Expr,
    taken: dict[str, eq.Expr],
    other: dict[str, eq.Expr],
) -> dict[str, eq.Expr]:
    """The locals after both arms: a select where they differ; a local that only one arm sets is its value (a
    well-defined program does not read it otherwise)."""
    out: dict[str, eq.Expr] = {}
    swapped = _exchanged(condition, {(v, other[n]) for n, v in taken.items() if n in other})
    for name in (*taken, *(n for n in other if n not in taken)):
        a, b = taken.get(name), other.get(name)
        if a is None or b is None:
            out[name] = a if b is None else b  # type: ignore[assignment]
        elif a is b:
            out[name] = a
        else:
            chosen = swapped.get((a, b)) or clamped(condition, a, b, st.path)
            a, b = arms_alike(a, b)
            kind = a.type if a.type == b.type else _join(a, b)
            out[name] = chosen or simplify.op("select", (condition, a, b), kind)
            given = st.names.get(a) or st.names.get(b)
            if given is not None and given.name == name:
                st.names.setdefault(out[name], eq.Name(out[name], name, given.span))
    return out


def _exchanged(condition: eq.Expr, pairs: set[tuple[eq.Expr, eq.Expr]]) -> dict[tuple[eq.Expr, eq.Expr], eq.Expr]:
    """``if a > b: a, b = b, a``: by the values of the two arms, the smaller and the greater of both."""
    match condition:
        case eq.Op(name="not", args=(inner,)):
            found = _exchanged(inner, {(b, a) for a, b in pairs})
            return {(b, a): v for (a, b), v in found.items()}
        case eq.Op(name="lt" | "le" | "gt" | "ge" as name, args=(a, b)) if a.type == b.type:
            ends = ("min", "max") if name in ("lt", "le") else ("max", "min")
            if (a, b) in pairs and (b, a) in pairs:
                return {(a, b): eq.Op(ends[0], (a, b), a.type), (b, a): eq.Op(ends[1], (a, b), a.type)}
    return {}


_RANK = {"bool": 0, "int": 1, "uint": 1, "number": 2, "float": 3, "bfloat": 3, "complex": 4}


def _join(a: eq.Expr, b: eq.Expr) -> ScalarType:
    return a.type if _RANK[a.type.kind] >= _RANK[b.type.kind] else b.type


def _new(cx: Context, st: State, s: k.LocalArray) -> None:
    shape = tuple(value(cx, st, x) for x in s.shape)
    fill = None if s.fill is None else value(cx, st, s.fill)
    new_array(cx, st, s, shape, fill)
    if s.values:
        sizes = [to_poly(n).value for n in shape]
        if None in sizes:
            raise refuse("KR299", "the shape of an initialized array is not known here", s.span)
        for at, v in enumerate(initial(s, sizes)):  # type: ignore[arg-type]
            subs = []
            for n in reversed(sizes):
                at, digit = divmod(at, n)  # type: ignore[operator]
                subs.append(eq.Const(digit, INT))
            store(cx, st, s.name, tuple(reversed(subs)), value(cx, st, v), s.span)


__all__ = ["assign", "block", "load", "merged", "statement", "store"]
