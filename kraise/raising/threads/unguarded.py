"""What only the launch bounds: indices with no guard, and the rows that a launch fills (contract, section 1)."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

from kraise.analysis.conditions import classify
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.context import Context
from kraise.raising.threads.multiples import in_tiles
from kraise.raising.threads.row_views import by_launch

AXES = "xyz"


def as_wide(cx: Context, filled: eq.Expr, row: eq.Expr, each: str = "") -> None:
    """The launch is as wide as the rows that it fills (``filled`` elements of each, as ``each`` says): checked where it
    is given."""
    _where_given(cx, eq.Op("eq", (filled, row), BOOL), f"the launch must be as wide as a row{each}")


def as_many_blocks(cx: Context, axis: int) -> eq.Expr:
    """The blocks along an axis without threads are as many as a row has places, which is checked where the launch is
    given; how many."""
    row, letter = cx.widths[axis], AXES[axis]
    same = eq.Op("eq", (eq.Param(f"grid.{letter}", INT), row), BOOL)
    _where_given(cx, same, f"the launch must have {render_expr(row)} blocks along {letter}")
    return row


def _where_given(cx: Context, condition: eq.Expr, text: str) -> None:
    given = eq.Op("not", (eq.Param("block.given", BOOL),), BOOL)
    cx.checks.append((eq.Op("or", (given, condition), BOOL), text))


def blocks_of(cx: Context, axis: int, block: int) -> Poly | None:
    """The blocks along an axis that fill the rows which the launch is known to fill, and the demand that they do; None
    if they are as many as the launch says."""
    grid, span = eq.Param(f"grid.{AXES[axis]}", INT), cx.spans.get(axis, block)
    each = "" if span == block else f", with {span} elements for each block"
    if each and span % block == 0:
        each = f", with {span // block} elements for each thread"
    as_wide(cx, operation("mul", (eq.Const(span, INT), grid), INT), cx.widths[axis], each)
    tiles = to_poly(in_tiles(cx, cx.widths[axis]))
    whole = all(c % span == 0 for c in tiles.terms.values())
    return Poly({m: c // span for m, c in tiles.terms.items()}) if whole else None


def asks_where_given(condition: eq.Expr, cooperative: bool) -> bool:
    """Whether a check is one of :func:`as_wide` (of threads that share nothing), or that a block has threads enough."""
    match condition:
        case eq.Op(name="or", args=(eq.Op(name="not", args=(eq.Param(name="block.given"),)), eq.Op(name=name))):
            return name == "ge" or (name == "eq" and not cooperative)
    return False


def spans(conditions: Iterable[eq.Expr], tile: Mapping[int, int]) -> dict[int, int]:
    """How many elements of a row each block fills, by axis, where they are not as many as it has threads: ``64 * grid
    <= n`` is wanted of blocks of 16, which have four each, or of 512, which fill eight rows."""
    out: dict[int, int] = {}
    for c in conditions:
        match c:
            case eq.Op(name="le", args=(eq.Op(name="mul", args=(eq.Const(value=int() as n), eq.Param(name=name))), _)):
                axis = AXES.index(name[-1]) if name.startswith("grid.") else -1
                if n > 1 and n != tile.get(axis, n):
                    out.setdefault(axis, n)
    return out


def widths(conditions: Iterable[eq.Expr], tile: Mapping[int, int], alone: Container[int] = ()) -> dict[int, eq.Expr]:
    """The rows that the launch fills, by axis: ``threads <= n`` is wanted, and that it is n is demanded (a launch that
    fills only a part of its rows is turned down). Of blocks of 16, ``grid <= 64`` says that they fill 1024. Axes
    ``alone`` have blocks and no threads."""
    out: dict[int, eq.Expr] = {}
    for c in conditions:
        match c:
            case eq.Op(name="le", args=(most, row)) if (axis := _threads_of(most)) is not None and not by_launch(
                (row,)
            ):
                out.setdefault(axis, row)
            case eq.Op(name="le", args=(eq.Param(name=name), eq.Const(value=int() as most))) if (
                name.startswith("grid.") and (along := AXES.index(name[-1])) in tile
            ):
                out.setdefault(along, eq.Const(most * tile[along], INT))
            case eq.Op(name="le", args=(eq.Param(name=name), eq.Param(name=size) as row)) if (
                name.startswith("grid.") and "." not in size and (along := AXES.index(name[-1])) in alone
            ):
                out.setdefault(along, row)
    return out


def blocks_alone(cx: Context) -> set[int]:
    """The axes along which only the blocks are looked at."""
    threads = {axis for n, axis in cx.axes.items() if n not in cx.blocks}
    return {cx.axes[n] for n in cx.blocks if cx.extents.get(n) == ("gridDim",)} - threads


def rows_of_blocks(conditions: Iterable[eq.Expr]) -> dict[int, eq.Param]:
    """The rows that blocks fill, by axis: ``block <= n`` is wanted (``x[blockIdx.x * n + threadIdx.x]``), and that it
    is n is demanded. None of an axis of which several rows are wanted."""
    out: dict[int, set[eq.Param]] = {}
    for c in conditions:
        match c:
            case eq.Op(name="le", args=(most, row)):
                gap = to_poly(row) - to_poly(most)
                block = [a for a in gap.atoms() if isinstance(a, eq.Param) and a.name.startswith("block.")]
                sizes = [a for a in gap.atoms() if isinstance(a, eq.Param) and "." not in a.name and a.type.is_integer]
                if len(block) == len(sizes) == 1 and gap == to_poly(sizes[0]) - to_poly(block[0]):
                    out.setdefault(AXES.index(block[0].name[-1]), set()).add(sizes[0])
    return {axis: next(iter(rows)) for axis, rows in out.items() if len(rows) == 1}


def _threads_of(e: eq.Expr) -> int | None:
    """The axis whose threads the launch has ``e`` of."""
    match e:
        case eq.Param(name=name) if name.startswith("threads."):
            return AXES.index(name[-1])
        case eq.Op(name="mul", args=(eq.Const(), eq.Param(name=name))) if name.startswith("grid."):
            return AXES.index(name[-1])
    return None


def unguarded(cx: Context, accesses: Iterable[Access]) -> list[str]:
    """The thread indices in flat subscripts of what is stored to the caller's arrays that no condition bounds from
    above: the launch bounds them, which the proofs may use."""
    found: dict[str, None] = {}
    for a in accesses:
        if not a.write or a.array in cx.made:
            continue
        for s in a.subscripts:
            poly = to_poly(s)
            moving = poly.indices() & set(cx.thread_names)
            rest = [m for m in poly.terms if m and not any(isinstance(x, eq.Index) and x.name in moving for x in m)]
            fields = moving and len(a.subscripts) == 1 and any(not by_launch(m) for m in rest)  # f[i + 3 * n]
            if len(moving) < 2 and not fields:
                continue
            for name in sorted(moving):
                index = eq.Index(name, INT)
                facts = [f for f in map(classify, a.path) if f is not None and f.kind == "ge"]
                if not any((f.poly.coefficient(index).value or 0) < 0 for f in facts if index in f.poly.atoms()):
                    found[cx.whole_of.get(name, name)] = None
    return list(found)


def in_fields(cx: Context, accesses: Iterable[Access]) -> frozenset[str]:
    """The thread indices in subscripts that a field as long as the launch has threads is added to: ``f[x + blockDim.x *
    gridDim.x]``. They are below that, which tells the fields apart."""
    found: set[str] = set()
    for a in accesses:
        for s in a.subscripts if a.write and a.array not in cx.made else ():
            poly = to_poly(s)
            for name in poly.indices() & set(cx.thread_names):
                letter = AXES[cx.axes[name]] if name in cx.axes else ""
                every = {f"grid.{letter}", f"block.{letter}"}
                if any(every == {x.name for x in m if isinstance(x, eq.Param)} for m in poly.terms if len(m) == 2):
                    found.add(cx.whole_of.get(name, name))
    return frozenset(found)
