"""Places of pointers in memory: those that numbers give, and the pieces of a buffer that must not be left.

A piece of a buffer (:mod:`.pools`) is an array of its own as long as nothing reaches beyond it: launches by what their
kernels touch (:mod:`.reach`), copies and library calls by their counts, elements by their subscripts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import mul
from typing import TYPE_CHECKING, Any

from kraise.analysis.poly import Poly
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import fresh
from kraise.ir.rename import renamed, within
from kraise.ir.types import INT32, ArrayType
from kraise.raising.hosts.effects import Function
from kraise.raising.hosts.pools import NotApart
from kraise.raising.hosts.reach import Numbers, reach
from kraise.raising.hosts.state import State, View

if TYPE_CHECKING:
    from kraise.raising.hosts.function import Raising


def keep_places(r: Raising, names: set[str], state: State, out: list[o.Stmt], span: Span | None) -> None:
    """Pointers stay where they are when numbers of their places change (``v = x + m; m = 2 * m``)."""
    places = tuple(v.offset for v in state.points.values() if v.offset is not None)
    for var in sorted({v for v in within(places, k.Var) if v.name in names}, key=lambda v: v.name):
        own = fresh(r.taken, f"{var.name}_before")
        out.append(o.Let((own,), var, span))
        state.set_scalars([own])
        for name, view in list(state.points.items()):
            state.points[name] = replace(view, offset=renamed(view.offset, {var.name: own}))


def stays(r: Raising, view: View, last: k.Expr | None) -> None:
    """Raises NotApart unless what ends at ``last`` elements from the start of a piece lies in the piece."""
    if view.slot not in r.apart:
        return
    size = r.sizes.get(view.slot)
    if view.offset is not None or last is None or size is None:
        raise NotApart
    if not r.number.not_negative(r.number(size[0]) - r.number(last)):
        raise NotApart


def element_stays(r: Raising, view: View, subscripts: tuple[k.Expr, ...]) -> None:
    """The same of one element."""
    if view.slot in r.apart:
        (at,) = subscripts
        if isinstance(at, k.Const) and at.value == 0:
            return  # a piece has an element, or the source has no meaning
        stays(r, view, k.Op("add", (at, k.Const(1, at.type)), at.type))


def launch_stays(
    r: Raising,
    function: Function,
    args: tuple[Any, ...],
    views: Mapping[str, View],
    grid: tuple[k.Expr, ...] | None,
    block: tuple[k.Expr, ...] | None,
) -> None:
    """The same of all that a launch touches."""
    mine = {p: v for p, v in views.items() if v.slot in r.apart}
    if not mine:
        return
    if function.equations is None:
        raise NotApart
    known = _numbers(r.number, function, args, grid, block)

    def named(e: eq.Expr) -> Poly | None:
        if isinstance(e, eq.Shape):
            size = r.sizes.get(views[e.array].slot) if e.array in views and e.axis == 0 else None
            return None if size is None or views[e.array].offset is not None else r.number(size[0])
        return known.get(e.name) if isinstance(e, eq.Param) else None

    for param, view in mine.items():
        size = r.sizes.get(view.slot)
        ends = reach(function.equations, param, named)
        if size is None or ends is None or view.offset is not None or view.in_rows:
            raise NotApart
        if not all(r.number.not_negative(r.number(size[0]) - end) for end in ends):
            raise NotApart


def parts(
    r: Raising,
    function: Function,
    args: tuple[Any, ...],
    views: dict[str, View],
    state: State,
    grid: tuple[k.Expr, ...] | None,
    block: tuple[k.Expr, ...] | None,
) -> tuple[Any, ...]:
    """The arguments of a launch, parts of memory by as many elements as the kernel touches: two parts of one memory
    may be given together where they do not meet. ``views`` are told the counts."""
    shared = [p for p, v in views.items() if sum(v.slot == w.slot for w in views.values()) > 1]
    mine = [p for p, v in views.items() if not v.in_rows and "." not in p and (v.offset is not None or p in shared)]
    if function.equations is None or not any(views[p].offset is not None for p in mine):
        return args
    known = _numbers(r.number, function, args, grid, block)

    def named(e: eq.Expr) -> Poly | None:
        return known.get(e.name) if isinstance(e, eq.Param) else None

    at = {param.name: n for n, param in enumerate(function.params)}
    given = list(args)
    for p in mine:
        ends = reach(function.equations, p, named)
        end = next((e for e in ends or () if all(r.number.not_negative(e - other) for other in ends or ())), None)
        count = None if end is None else r.number.expression(end, state.scalars)
        whole = given[at[p]]
        if count is None or not isinstance(whole, h.Whole) or whole.count is not None:
            continue
        views[p] = replace(views[p], count=count)
        given[at[p]] = replace(whole, count=count)
    return tuple(given)


def meet(r: Raising, one: View, two: View) -> bool:
    """May two views of one memory have an element in common?"""
    if one.slot != two.slot:
        return False
    zero = k.Const(0, INT32)
    if one.count is None or two.count is None:
        return True
    first, second = r.number(one.offset or zero), r.number(two.offset or zero)
    behind = r.number.not_negative(second - first - r.number(one.count))
    return not behind and not r.number.not_negative(first - second - r.number(two.count))


def _numbers(
    number: Numbers,
    function: Function,
    args: tuple[Any, ...],
    grid: tuple[k.Expr, ...] | None,
    block: tuple[k.Expr, ...] | None,
) -> dict[str, Poly]:
    """What the parameters of a kernel and its launch are for the host."""
    known: dict[str, Poly] = {}
    for param, value in zip(function.params, args, strict=False):
        if isinstance(value, h.Record | h.Structs):
            for (member, _), part in zip(value.struct.members, value.members, strict=True):
                if not isinstance(part, k.ArrayRef | h.Whole):
                    known[f"{param.name}.{member}"] = number(part)
        elif not isinstance(param.type, ArrayType):
            known[param.name] = number(value)
    for word, extents in (("grid", grid or ()), ("block", block or ())):
        for axis, extent in zip("xyz", (*extents, *[k.Const(1, extents[0].type)] * 3) if extents else (), strict=False):
            known[f"{word}.{axis}"] = number(extent)
    if block and function.equations is not None and function.equations.one_row:
        known["block.x"] = reduce(mul, [known.pop(f"block.{axis}") for axis in "xyz"][: function.equations.one_row])
    for axis in "xyz":
        if f"grid.{axis}" in known and f"block.{axis}" in known:
            known[f"threads.{axis}"] = known[f"grid.{axis}"] * known[f"block.{axis}"]
    return known
