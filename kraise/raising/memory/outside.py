"""Accesses that leave their array whatever the sizes are (contract, section 3).

The emitted function is equal to the source on launches without such an access. Where every launch has one (``x[i - 1]``
from i = 0 on), nothing that is emitted could be right: JAX clamps, wraps or cuts a slice short. Refused are accesses
for which it is proved that each choice of the sizes in their guards that is not tiny has an instance below 0, or
beyond an extent that is known: of an array made here, or a ``shape`` that the subscript itself speaks of. An access
whose guard depends on data, or that leaves the array for some sizes only, is not judged; below zero, Python counts from
the end for these sizes (:mod:`~kraise.raising.memory.from_end`).
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import Access
from kraise.analysis.leaving import FULL, witness
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Diagnostic, Refused
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute
from kraise.raising.memory import first_block, from_end
from kraise.raising.memory.phases import BARRIER
from kraise.raising.run.context import Context
from kraise.raising.run.state import State

BELOW = "before its first element"
FURTHER = "before its first element, from the end as well"


def check(cx: Context, st: State) -> None:
    """Refuses accesses that leave their array for all sizes.

    Raises:
        Refused: KR204, with the values that make it leave.
    """
    found: dict[object, Diagnostic] = {}
    python = cx.module.language == "python"
    read = {a.array for a in st.accesses if not a.write and not a.own}
    for a in st.accesses:
        if a.array == BARRIER or (a.span, a.array, a.write) in found or _widened(a):
            continue
        for axis, subscript in enumerate(a.whole or a.subscripts):
            place = to_poly(subscript)
            left = set[str]()
            for way, poly in _ways(st, a, axis, place, python):
                judged = _whatever_data_say(a, place)
                values = witness(judged, place, poly, cx.facts, cx.thread_names)
                if values is None:
                    values = _by_first_block(cx, a, place, poly, way == BELOW)
                if values is None and way == BELOW and not python:
                    values = _in_first(cx, a, place, poly)
                if values is None and way == BELOW and python:
                    judged = replace(a, path=from_end.without_data(a.path)) if a.array in read else a
                    values = witness(judged, place, poly, cx.facts, cx.thread_names, FULL)
                if values is not None:
                    left.add(way)
                    found[a.span, a.array, a.write] = _finding(a, way, values, python)
            if left == {BELOW}:  # beyond the last element, Python counts from nowhere
                from_end.note(cx, st, a, axis)
            elif python and not left and _lowered(a, place):
                some = from_end.for_some_sizes(cx, st, a, axis)
                if some is not None:
                    found[a.span, a.array, a.write] = _finding(a, BELOW, some.values, python)
    if found:
        raise Refused(*found.values())


def _widened(a: Access) -> bool:
    """Whether the record stands for more cells than are touched: it has indices of no range, for the race check."""
    return any(name.startswith("$") for s in a.subscripts for name in free_indices(s))


def _ways(st: State, a: Access, axis: int, place: Poly, python: bool) -> list[tuple[str, Poly]]:
    """What is not negative where ``place`` is outside: below zero, and beyond an extent that is known."""
    if axis and a.view and not a.whole:
        return []  # a digit: within its radix by proof
    below = [(BELOW, -place - 1)] if _lowered(a, place) else []
    local = st.locals.get(a.array)
    if a.view and not a.whole:
        return below
    if local is not None:
        at = axis - len(local.prefix)
        extent = local.shape[at] if 0 <= at < len(local.shape) else None
        known = isinstance(extent, eq.Const)
    else:
        extent = eq.Shape(a.array, axis, INT)
        known = any(extent in to_poly(s).atoms() for s in (*_operands(a.path), *a.subscripts))
    if extent is None or not known:
        return below
    further = [(FURTHER, -place - to_poly(extent) - 1)] if below and python else []
    return [*below, *further, ("beyond its last element", place - to_poly(extent))]


def _lowered(a: Access, place: Poly) -> bool:
    return any(c < 0 for c in place.terms.values()) or _from_below(a, place)


def _from_below(a: Access, place: Poly) -> bool:
    """Whether a range from below zero on bounds an index of the subscript (``for k in range(-n, 0): x[k]``)."""
    facts = [f for f in map(classify, a.path) if f is not None and f.kind == "ge"]
    for index in (eq.Index(name, INT) for name in place.indices()):
        for f in facts:
            above = f.poly.coefficient(index).value
            if above is not None and above > 0 and any(c > 0 for c in f.poly.without(index).terms.values()):
                return True
    return False


def _whatever_data_say(a: Access, place: Poly) -> Access:
    """The access without the conditions that data decide, where its subscript is the index of a range from below zero:
    that range is not meant to lie within the array."""
    alone = len(place.indices()) == 1 and all(c == 1 for m, c in place.terms.items() if m)
    if not alone or not _from_below(a, place):
        return a
    return replace(a, path=from_end.without_data(a.path))


def _by_first_block(cx: Context, a: Access, place: Poly, outside: Poly, below: bool) -> dict[str, int] | None:
    """The witness among the threads of block 0."""
    launch = [c for c in cx.facts if below and free_indices(c) & place.indices()]
    if not first_block.products(cx, (eq.Op("ge", (to_expr(place), eq.Const(0, INT)), BOOL), *a.path, *launch)):
        return None
    try:
        here = replace(a, path=first_block.at_first(cx, a.path), subscripts=first_block.moved(cx, a.subscripts))
        own, beyond = map(to_poly, first_block.moved(cx, (to_expr(place), to_expr(outside))))
        return witness(here, own, beyond, first_block.moved(cx, cx.facts), cx.thread_names)
    except Unmovable:  # what a loop carries exists for the block's index only
        return None


def _in_first(cx: Context, a: Access, place: Poly, outside: Poly) -> dict[str, int] | None:
    """The witness in the first row, where ``r * w`` is no product of two unknowns: all indices that are multiplied by
    one are zero there. (Python counts such a place from the end.)"""
    indices = {x for m in place.terms if len(m) > 1 for x in m if isinstance(x, eq.Index)}
    if not indices or {x.name for x in indices} & {*cx.blocks}:
        return None
    at: dict[eq.Expr, eq.Expr] = {index: eq.Const(0, INT) for index in indices}
    try:
        path, own, beyond = (
            tuple(substitute(e, at) for e in es) for es in (a.path, (to_expr(place),), (to_expr(outside),))
        )
        facts = tuple(substitute(e, at) for e in cx.facts)
    except Unmovable:
        return None
    here = replace(a, path=path, subscripts=own, whole=())
    values = witness(here, to_poly(own[0]), to_poly(beyond[0]), facts, cx.thread_names, everywhere=True)
    return None if values is None else {x.name: 0 for x in sorted(indices, key=lambda x: x.name)} | values


def _operands(path: tuple[eq.Expr, ...]) -> list[eq.Expr]:
    return [x for c in path if isinstance(c, eq.Op) for x in c.args if isinstance(x, eq.Expr)]


def _finding(a: Access, way: str, values: dict[str, int], python: bool) -> Diagnostic:
    at = values.pop("")
    where = ", ".join(f"{name} = {v}" for name, v in values.items())
    verb = "stores to" if a.write else "reads"
    reason = f"this {verb} `{a.array}` {way} (at {at})" + (f" for {where}" if where else "")
    hint = "guard the access"
    if python and way == BELOW:
        hint += "; if it is meant to count from the end, it is this use of the element that is not raised here"
    return Diagnostic("KR204", reason, a.span, hint)
