"""Flat arrays as rows of a block: what stays as ``x[block * blockDim + thread]`` is element (block, thread) of rows.

What the digits are is proved (:mod:`kraise.analysis.delinearize`). Rows of a size that the launch decides are made
where nothing else says how the array is laid out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kraise.analysis.boxes import largest
from kraise.analysis.delinearize import Digits, digits, in_rows
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.walk import topological, transform

Path = tuple[eq.Expr, ...]


def viewed(e: eq.Expr, known: Path, masked: bool) -> eq.Expr:
    """Loads at ``block * blockDim + thread`` that stayed as loads from rows of blockDim, and those beside them of a
    row's first cell; where a mask is over them the array need not fill the last row."""
    masks = masked or any(
        (isinstance(n, eq.Reduce) and n.where is not None) or (isinstance(n, eq.Op) and n.name == "select")
        for n in topological((e,))
    )

    rows: dict[eq.Version, list[eq.Read]] = {}

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and len(node.subscripts) == 1 and not node.view:
            found = taken_apart(node.subscripts[0], known)
            if found is not None:
                top = largest(to_poly(found[0][0]), known)
                if top is None:
                    return node
                view = (to_expr(top + 1), *found[1][1:]) if masks else found[1]
                new = eq.Read(node.version, found[0], node.type, view, masks)
                rows.setdefault(node.version, []).append(new)
                return new
        return node

    def beside(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and len(node.subscripts) == 1 and not node.view:
            for row in rows.get(node.version, ()):
                found = in_rows(to_poly(node.subscripts[0]), tuple(map(to_poly, row.view[1:])), known)
                if found is not None and found.subscripts[0] == to_poly(row.subscripts[0]):
                    return eq.Read(node.version, tuple(map(to_expr, found.subscripts)), node.type, row.view, masks)
        return node

    e = transform(e, one)
    return transform(e, beside) if rows else e


def taken_apart(s: eq.Expr, known: Path) -> tuple[Path, Path] | None:
    """The subscripts and the view for a flat subscript with a digit of the block's size."""
    from kraise.raising.run.arithmetic import index_like
    from kraise.raising.run.state import ROWS

    if not index_like(s) or not by_launch((s,)):
        return None
    found = digits(to_poly(s), known)
    if found is None:
        return None
    return tuple(to_expr(p) for p in found.subscripts), (ROWS, *(to_expr(r) for r in found.radices))


def without_launch(found: Digits, blocks: Collection[tuple[eq.Expr | None, eq.Expr]]) -> Digits | None:
    """The digits without the size of a block: ``(block * blockDim + thread) * n + c`` is row ``block * blockDim +
    thread``, and likewise with a row for each warp, or with one of the sizes that a block has: ``blocks`` are those,
    each behind the index of the blocks along its axis. None if the launch decides others."""
    subs, radices = list(found.subscripts), list(found.radices)
    first = to_expr(radices[0])
    launched = isinstance(first, eq.Param) and first.name.startswith(("block.", "warps."))
    if launched or ((to_expr(subs[0]), first) in blocks and len(radices) > 1):
        subs[:2] = [subs[0] * radices.pop(0) + subs[1]]
    if not radices or by_launch(to_expr(r) for r in radices):
        return None
    return Digits(tuple(subs), tuple(radices))


def by_launch(sizes: Iterable[eq.Expr]) -> bool:
    """Whether an extent of the launch occurs."""
    return asks_for(sizes, ("block.", "grid.", "warps."))


def counts_threads(e: eq.Expr) -> bool:
    """Whether a number is made of extents of the launch (``int stride = blockDim.x * gridDim.x``): it is positive."""
    match e:
        case eq.Op(name="mul" | "add", args=args):
            return all(map(counts_threads, args))
        case eq.Const(value=int() as n):
            return n > 0
    return isinstance(e, eq.Param) and e.name.startswith(("block.", "grid."))


def asks_for(sizes: Iterable[eq.Expr], heads: tuple[str, ...]) -> bool:
    """Whether a parameter whose name starts like one of ``heads`` occurs."""
    return any(isinstance(n, eq.Param) and n.name.startswith(heads) for n in topological(sizes))


__all__ = ["asks_for", "by_launch", "counts_threads", "taken_apart", "viewed", "without_launch"]
