"""Expressions of Kernel IR to expressions over named indices (raising.md, step 4).

A local scalar is a function of the indices on which it depends; nothing more is needed to run all threads at once. A
load sees the version of its array that is current in program order; the value that the same instance stored to the same
cell under a condition that still holds is forwarded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.conditions import conjuncts, negate
from kraise.analysis.delinearize import digits, in_rows, provable
from kraise.analysis.dependence import Access, implied
from kraise.analysis.pixels import pixels
from kraise.analysis.poly import Poly, normal, to_expr, to_poly
from kraise.analysis.quotients import recombined
from kraise.analysis.truth import follows
from kraise.analysis.whole_windows import windows
from kraise.diagnostics import Span, refuse
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.memory.filled_twice import without_known
from kraise.raising.memory.private import check_filled, check_known, held, stored
from kraise.raising.optimistic import in_known_rows, rows_of_blocks, wanted
from kraise.raising.run import simplify, slices
from kraise.raising.run.arithmetic import index_like, operation, row_like, same_cell, uninverted
from kraise.raising.run.arms import seen
from kraise.raising.run.bit_places import by_digits
from kraise.raising.run.bits import by_bits
from kraise.raising.run.carried_digits import with_carried
from kraise.raising.run.context import Context, array_type
from kraise.raising.run.conversions import alike, arms_alike, converted, is_true, kept
from kraise.raising.run.dispatched import complete
from kraise.raising.run.paths import add_path, decided
from kraise.raising.run.row_digits import with_rows
from kraise.raising.run.sizes import natural, steering
from kraise.raising.run.staged import in_rows_here
from kraise.raising.run.state import ROWS, RawWrite, State
from kraise.raising.run.tables import in_table, place_like, without_casts
from kraise.raising.threads import groups
from kraise.raising.threads.multiples import extent, in_whole_rows, in_widths, stepped, tilewise, wished
from kraise.raising.threads.rounds import moving, numbered
from kraise.raising.threads.row_views import asks_for, without_launch
from kraise.raising.threads.splits import quotient
from kraise.raising.writes.clamps import clamped, larger
from kraise.raising.writes.decided import unclamped

_WHOLE = ("add", "sub", "mul", "neg", "floordiv", "mod", "min", "max")  # of integers these are integers


def value(cx: Context, st: State, e: k.Expr) -> eq.Expr:
    """The value of ``e`` in state ``st``; loads are recorded as accesses.

    Raises:
        Refused: an operand has no value yet, or the operation has no raised form.
    """
    match e:
        case k.Const(value=v, type=t, name=name):
            return eq.Const(v, t, name)
        case k.Var(name=name):
            return _variable(cx, st, e, name)
        case k.Hw(kind=kind, axis=axis):
            return cx.threads[kind, axis]
        case k.Op(name="and" | "or" as name, args=(a, b)):
            left = truth(cx, st, a)
            known = decided(st, left)
            if known is (name == "or"):
                return eq.Const(known, BOOL)
            inner = extended(st, left if name == "and" else negate(left))
            right = truth(cx, inner, b)
            st.order, st.accesses = inner.order, inner.accesses
            return simplify.op(name, (left, right), BOOL)
        case k.Op(name="not", args=(a,)):
            return simplify.negation(truth(cx, st, a))
        case k.Op(name="select", args=(c, a, b), type=t):
            condition = truth(cx, st, c)
            known = decided(st, condition)
            if known is not None:
                only = value(cx, st, a if known else b)
                return only if only.type == t or t.bits is None else simplify.cast(t, only)
            arms = []
            for arm, holds in ((a, condition), (b, negate(condition))):
                inner = extended(st, holds)
                arms.append(value(cx, inner, arm))
                st.order, st.accesses = inner.order, inner.accesses
            first, other = arms_alike(*arms)
            return clamped(condition, first, other, st.path) or simplify.op("select", (condition, first, other), t)
        case k.Op(name="floordiv" | "mod" | "tdiv" | "tmod" as name, args=(a, b), type=t) if t.is_integer:
            parts = value(cx, st, a), value(cx, st, b)
            digit = quotient(cx, st.path, name, *parts) if index_like(parts[0]) and index_like(parts[1]) else None
            if digit is None and name in ("floordiv", "tdiv"):
                digit = groups.noted(cx, *parts, name == "floordiv")
            if digit is not None:
                return digit
            floored = {"tdiv": "floordiv", "tmod": "mod"}.get(name)
            moving = any(free_indices(p) for p in parts)  # a quotient of sizes keeps one form
            if floored and moving and all(map(index_like, parts)) and _natural(st, parts):
                return operation(floored, parts, INT)  # the same where nothing is negative
            return operation(name, alike(t, parts), t)
        case k.Op(name="and_" | "shr" | "shl" as name, args=(a, b), type=t) if t.is_integer:
            first, other = alike(t, (value(cx, st, a), value(cx, st, b)))
            return kept(cx, st, t, by_bits(cx, st, name, first, other, t))
        case k.Op(name="add" | "sub" | "mul" | "neg" as name, args=args, type=t) if t.is_integer:
            return kept(cx, st, t, _ring(cx, st, name, alike(t, tuple(value(cx, st, a) for a in args)), t))
        case k.Op(name="max" | "min" as name, args=(a, b), type=t) if t.is_integer:
            first, other = alike(t, (value(cx, st, a), value(cx, st, b)))
            return larger(name, first, other, (*st.path, *st.facts)) or operation(name, (first, other), t)
        case k.Op(name=name, args=args) if name in slices.NAMES:
            return slices.value(cx, st, name, tuple(value(cx, st, a) for a in args), e.span)
        case k.Op(name="popcount", args=(a,), type=t):
            from kraise.raising.threads.warps import votes

            bits = value(cx, st, a)
            number = votes(cx, st, bits)
            return operation("popcount", (bits,), t) if number is None else simplify.cast(t, number)
        case k.Op(name="clz", args=(a,), type=t):  # the one operation on bits that depends on how many there are
            bits = value(cx, st, a)
            return operation("clz", (simplify.cast(a.type, bits) if a.type.bits else bits,), t)
        case k.Op(name=name, args=args, type=t):
            operands = alike(t, tuple(value(cx, st, a) for a in args))
            whole = t.kind == "number" and name in _WHOLE and all(o.type.is_integer for o in operands)
            return operation(name, operands, INT if whole else t)
        case k.Warp():
            from kraise.raising.threads.warps import exchange

            return exchange(cx, st, e)
        case k.Cast(type=t, arg=a):
            return converted(cx, st, t, value(cx, st, a))
        case k.Load(array=array, subscripts=subscripts, type=t, span=span):
            return load(cx, st, array, tuple(value(cx, st, s) for s in subscripts), t, span)
        case k.Shape(array=array, axis=axis):
            return shape(cx, st, array, axis, e.span)
        case k.Call():
            result = cx.call(st, e)
            assert result is not None
            return result
    raise refuse("KR299", f"{type(e).__name__} has no raised form yet", e.span)


def truth(cx: Context, st: State, e: k.Expr) -> eq.Expr:
    """``e`` as a boolean."""
    return is_true(value(cx, st, e))


def extended(st: State, condition: eq.Expr) -> State:
    """A view of ``st`` under one more condition, for evaluating an operand that is reached only then."""
    return replace(st, path=add_path(st.path, condition))


def _natural(st: State, parts: tuple[eq.Expr, ...]) -> bool:
    """Whether the dividend is not negative and the divisor positive, as far as the path says."""
    path = (*st.path, *st.facts)
    return provable(path, to_poly(parts[0])) and provable(path, to_poly(parts[1]) - 1)


def provable_here(st: State, poly: Poly) -> bool:
    """Whether ``poly >= 0`` as far as the path and the launch say."""
    return provable((*st.path, *st.facts), poly)


def _ring(cx: Context, st: State, name: str, parts: tuple[eq.Expr, ...], t: ScalarType) -> eq.Expr:
    """A sum, difference or product. One of unsigned numbers with a term that is subtracted is index arithmetic where it
    is proved not to be negative (``threadIdx.x`` is one: the global index less what the blocks before it have)."""
    if t.kind == "uint" and all(map(index_like, parts)):
        out = eq.Op(name, parts, INT)
        poly = to_poly(out)
        subtracted = name in ("sub", "neg") or any(c < 0 for c in poly.terms.values())
        if subtracted and (provable((*st.path, *st.facts), poly) or natural(cx, poly)):
            return normal(out)
        sizes = steering(cx)
        if subtracted and poly.atoms() and all(isinstance(a, eq.Param) and a.name in sizes for a in poly.atoms()):
            cx.unsigned[eq.Op("ge", (to_expr(poly), eq.Const(0, INT)), BOOL)] = None  # else it would wrap round
    return operation(name, parts, t)


def _known(path: tuple[eq.Expr, ...], condition: eq.Expr) -> bool:
    return condition in path or implied(path, condition) or follows(path, condition)


def _variable(cx: Context, st: State, e: k.Var, name: str) -> eq.Expr:
    given = st.partial.get(name)
    if name in st.env and (given is None or all(_known(st.path, c) for c in conjuncts(given))):
        return st.env[name]
    if given is not None and name in st.env and complete(cx, st, given):
        return st.env[name]
    if given is not None and given in cx.halves:
        cx.asked |= cx.halves[given]
        raise refuse(
            "KR299",
            f"`{name.lstrip('$')}` is read by threads that hold only a part of the sum",
            e.span,
            "read it in the first thread only, or sum it with xor shuffles",
        )
    raise refuse(
        "KR207",
        f"`{name.lstrip('$')}` may be read before it has a value",
        e.span,
        "give it a value on every path",
    )


def resolve(cx: Context, st: State, array: str) -> str:
    """The array that ``array`` stands for in the function being evaluated (a helper's parameter is its argument)."""
    head, dot, rest = array.partition(".")
    return st.arrays.get(head, head) + dot + rest


def shape(cx: Context, st: State, array: str, axis: int, span: Span | None) -> eq.Expr:
    name = resolve(cx, st, array)
    local = st.locals.get(name)
    if local is not None:
        return local.shape[axis]
    return extent(cx, eq.Shape(name, axis, INT))


@dataclass(frozen=True)
class Cell:
    """The array meant, its subscripts, and the extents of its view if a flat subscript was taken apart ("" for the
    first)."""

    array: str
    subscripts: tuple[eq.Expr, ...]
    view: tuple[eq.Expr, ...] = ()


def located(cx: Context, st: State, array: str, subscripts: tuple[eq.Expr, ...], span: Span | None) -> Cell:
    """The cell meant: a local array has the indices of its making in front; a flat subscript is taken apart where
    proved."""
    name = resolve(cx, st, array)
    subscripts = tuple(by_digits(unclamped(uninverted(s), st.path), (*st.path, *st.facts)) for s in subscripts)
    subscripts = tuple(recombined(s) if index_like(s) else s for s in subscripts)
    local = st.locals.get(name)
    prefix: tuple[eq.Expr, ...] = ()
    if local is not None:
        prefix = tuple(eq.Index(n, INT) for n in local.prefix)
    elif name not in st.versions:
        if array_type(cx.function, name) is None and not any(c.name == name for c in cx.module.constants):
            raise refuse("KR102", f"`{array}` is not an array known here", span)
        st.versions[name] = eq.Version(name, 0)
    kind = array_type(cx.function, name) if len(subscripts) > 1 else None
    tail = kind.tail if kind is not None and len(kind.tail) == len(subscripts) - 1 else ()
    if len(subscripts) == 1 + len(tail) and not prefix and place_like(cx, subscripts[0]):
        known = tuple(moving(cx, c) for c in (*st.path, *st.facts))
        subscripts = (without_casts(subscripts[0]), *subscripts[1:])
        poly = to_poly(moving(cx, subscripts[0]))
        found = (
            (in_whole_rows(cx, poly, known) if cx.multiples else None)
            or digits(poly, known)
            or pixels(poly, known)
            or windows(poly, known)
            or (groups.in_whole_rows(cx, poly, known) if cx.groups else None)
            or in_widths(cx, poly, known)
        )
        rows = cx.rows.get(name, ())
        rows = rows[: len(rows) - len(tail)]
        if rows and (found is None or (found.radices != rows and found.radices == rows[-len(found.radices) :])):
            found = in_rows(poly, rows, known) or found
        found = None if found is None else without_launch(found, cx.named_blocks())
        if found is not None:
            subs = (*(numbered(cx, to_expr(p)) for p in found.subscripts), *subscripts[1:])
            return Cell(name, subs, (ROWS, *(to_expr(r) for r in found.radices), *(eq.Const(n, INT) for n in tail)))
        if cx.cooperative:
            cx.wished |= wished(poly, known)
            cx.in_shares |= groups.tiled(poly, known)
        cx.stepped |= {(name, row): by for row, by in stepped(poly, known).items()}
        at = moving(cx, subscripts[0])
        conditions = wanted(at, known)
        if not conditions and name in cx.rows:
            conditions = in_known_rows(at, rows, known)
        if cx.tile and (not conditions or asks_for(conditions, ("threads.", "grid."))):
            conditions = wanted(*tilewise(cx, subscripts[0], known))
        for condition in conditions:
            if not asks_for((condition,), ("block.", "warps.")):
                sizes = any(isinstance(n, eq.Param) and "." not in n.name for n in topological((condition,)))
                if sizes and asks_for((condition,), ("threads.", "grid.")) and not _is_radix(condition, to_poly(at)):
                    continue  # ``x[n - 1 - i]``: no row that the launch would have to be as wide as
                cx.wanted.setdefault(condition, set()).add(name)
            elif name not in st.locals and _is_radix(condition, to_poly(at)):
                cx.blockwise.setdefault(condition, set()).add(name)
                cx.tying |= rows_of_blocks(condition)
    in_rows_too = len(subscripts) == 1 and not prefix and any(a.array == name and a.view for a in st.accesses)
    if in_rows_too and (carried := with_carried(subscripts[0], (*st.path, *st.facts))):
        return Cell(name, carried[0], (ROWS, *(to_expr(r) for r in carried[1].radices)))
    return Cell(name, (*prefix, *subscripts))


def _is_radix(condition: eq.Expr, place: Poly) -> bool:
    """Whether a size that a condition is about multiplies an index of a flat place (``block * n + thread``: rows of n),
    and not only bounds what is left of it (``n - 1 - i``)."""
    sizes = {n for n in topological((condition,)) if isinstance(n, eq.Param) and "." not in n.name}
    return any(len(m) > 1 and not sizes.isdisjoint(m) for m in place.terms)


def access(st: State, at: Cell, path: tuple[eq.Expr, ...], write: bool, **more: object) -> Access:
    """The record of an access. Subscripts of several axes that hide digits (``b * s + i``) are taken apart for the
    proofs."""
    subs, view = at.subscripts, at.view
    if not view:
        parts: list[eq.Expr] = []
        radices: list[eq.Expr] = []
        for s in subs:
            still, found = with_rows(s, (*path, *st.facts)) if row_like(s) else ({}, None)
            if found is None:
                parts.append(s)
                radices.append(eq.Const(0, INT))
            else:
                back: dict[eq.Expr, eq.Expr] = {i: n for n, i in still.items()}
                parts += [substitute(to_expr(p), back) for p in found.subscripts]
                radices += [eq.Const(0, INT), *(to_expr(r) for r in found.radices)]
        if len(parts) != len(subs):
            more["whole"] = subs
            subs, view = tuple(parts), tuple(radices)
    return Access(
        at.array,
        subs,
        path,
        write,
        order=st.order,
        folds=st.folds,
        passed=st.passed,
        view=view,
        **more,  # type: ignore[arg-type]
    )


def load(cx: Context, st: State, array: str, subscripts: tuple[eq.Expr, ...], t: object, span: Span | None) -> eq.Expr:
    """The value of a cell as the instance sees it now."""
    return load_cell(cx, st, located(cx, st, array, subscripts, span), t, span)


def load_cell(cx: Context, st: State, at: Cell, t: object, span: Span | None) -> eq.Expr:
    """The same of a cell whose place is known."""
    name = at.array
    cell = st.cells.get(name)
    if cell is not None and cell[0] == at.subscripts:
        return st.env[cell[1]]
    for subscripts, local in st.slides.get(name, ()):
        if same_cell(subscripts, at.subscripts):
            return st.env[local]
    st.order += 1
    element = st.locals[name].type if name in st.locals else t
    forwarded = forward(st, at)
    if forwarded is not None and name in st.locals:
        forwarded = in_rows_here(cx, st, without_known((*st.path, *st.facts), forwarded))
    if forwarded is not None and isinstance(element, ScalarType):
        forwarded = stored(forwarded, element)
        looped = st.folds or any(n not in cx.thread_names for n in st.open)
        if element.kind == "number" and name not in st.locals and not looped and not _held_as_it_is(forwarded, name):
            # an array of integers holds less: what it holds is read. In loops, that would hide what is carried
            forwarded = None
    if forwarded is None and name in st.locals and not (cx.unroll and _filled(st, name)):
        forwarded = in_rows_here(cx, st, held(cx, st, name, at.subscripts))
        if cx.undefined.get(name, st) is None:
            cx.undefined[name] = span
    if forwarded is not None:
        st.accesses.append(access(st, at, st.path, False, answered=True, span=span))
        return forwarded
    check_known(cx, name, seen(st, name), span)
    if not cx.unroll:
        check_filled(cx, st, name, at.subscripts, span)
    node = eq.Read(seen(st, name), at.subscripts, element, at.view)  # type: ignore[arg-type]
    st.accesses.append(access(st, at, st.path, False, node=node, span=span))
    st.facts = tuple(dict.fromkeys((*st.facts, *in_table(cx, node))))
    return node


def _held_as_it_is(stored: eq.Expr, array: str) -> bool:
    """Whether an array whose type is open until the call holds what is stored in it: its own elements, or integers."""
    match stored:
        case eq.Read(version=version):
            return version.array == array
        case eq.Op(name="select", args=(_, a, b)):
            return _held_as_it_is(a, array) and _held_as_it_is(b, array)
    return stored.type.is_integer or stored.type.kind == "bool"


def _filled(st: State, array: str) -> bool:
    """Whether an array has been stored to: in loops written out, what its cells hold is read, not written out again."""
    return any(isinstance(r, RawWrite) and r.after.array == array for r in st.out)


def forward(st: State, at: Cell) -> eq.Expr | None:
    """What this instance stored to the very cell, if it certainly did and nobody has written the array since.

    A store of an earlier round of a loop that writes the array is never forwarded into the loop: ``st.fences`` says
    from where on.
    """
    version = st.versions[at.array]
    for raw in reversed(st.out[st.fences.get(at.array, 0) :]):
        if isinstance(raw, RawWrite) and raw.after is version:
            if raw.accumulate or raw.view != at.view or not same_cell(raw.subscripts, at.subscripts):
                return None
            return raw.value if set(raw.path) <= set(st.path) else None
    return None
