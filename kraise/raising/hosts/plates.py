"""A kernel that writes a box of one array from another, as a function of its own that is given one array for both.

A loop over two buffers that are alike (:mod:`.alike`) calls it. ``relax(u, new, f)`` stays as it is, and
``relax_in_place(u, f)`` is ``jnp.pad(…, 1) + u.at[1:-1, 1:-1].set(0)``: the equations of the kernel over one name (they
read the version before the store: no race). It is no function of the source's, and is not compared with one.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import ArrayType
from kraise.ir.walk import map_statement, topological, transform


def is_box(store: eq.Write) -> bool:
    """Whether each subscript is an axis of the store's own, moved by a number."""
    moved: list[eq.Index] = []
    for s in store.subscripts:
        free = [n for n in topological([s]) if isinstance(n, eq.Index)]
        if len(free) != 1 or (to_poly(s) - to_poly(free[0])).value is None:
            return False
        moved += free
    names = {a.name for a in store.axes}
    bounds = topological([bound for a in store.axes for bound in (a.lo, a.hi)])
    fixed = not any(isinstance(n, eq.Index) for n in bounds) and all(a.step == 1 for a in store.axes)
    return fixed and len(names) > 1 and len(moved) == len(names) and {n.name for n in moved} == names


def in_place(kernel: eq.Kernel, read: str, written: str, name: str) -> eq.Kernel | None:
    """The kernel, called ``name``, with the array ``read`` for ``written``, too; None where it does more than store."""
    kinds = {p.name: p.type for p in kernel.params}  # type: ignore[attr-defined]
    stores = [s for s in kernel.body if isinstance(s, eq.Write)]
    alike = isinstance(kinds[read], ArrayType) and kinds[read] == kinds[written]
    if not alike or len(stores) < len(kernel.body) or any(s.before.array == read for s in stores):
        return None

    def version(v: eq.Version) -> eq.Version:
        return eq.Version(read, v.number) if v.array == written else v

    def one(e: eq.Expr) -> eq.Expr:
        match e:
            case eq.Read(version=v) if v.array == written:
                return eq.Read(version(v), e.subscripts, e.type, e.view, e.safe, e.outside, e.limit)
            case eq.Shape(array=array, axis=axis, type=kind) if array == written:
                return eq.Shape(read, axis, kind)
        return e

    memo: dict[eq.Expr, eq.Expr] = {}

    def moved(e: eq.Expr) -> eq.Expr:
        return transform(e, one, memo)

    body = []
    for s in stores:
        done = map_statement(s, moved)
        assert isinstance(done, eq.Write)
        body.append(replace(done, before=version(s.before), after=version(s.after)))
    return replace(
        kernel,
        name=name,
        params=tuple(p for p in kernel.params if p.name != written),  # type: ignore[attr-defined]
        body=tuple(body),
        returns=tuple(version(r) if isinstance(r, eq.Version) else moved(r) for r in kernel.returns),
        names=tuple(replace(n, expr=moved(n.expr)) for n in kernel.names),
        ndrange=tuple((n, moved(e)) for n, e in kernel.ndrange),
        checks=tuple((moved(e), said) for e, said in kernel.checks),
        covers=tuple((n, moved(e)) for n, e in kernel.covers),
        least=tuple((n, moved(e)) for n, e in kernel.least),
        of_launch=tuple((moved(e), said) for e, said in kernel.of_launch),
        doc=f"{kernel.name}, of which {written} is {read}.",
        equations=(),
        derivatives=(),
        rimmed=read,
    )


__all__ = ["in_place", "is_box"]
