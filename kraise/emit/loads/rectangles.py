"""In which shape a kernel sees each of its flat arrays, where it sees it in one shape only."""

from __future__ import annotations

from kraise.emit import tree
from kraise.ir import equations as eq
from kraise.ir.types import ArrayType, ScalarType

Shape = tuple[eq.Expr | None, ...]
View = tuple[eq.Expr, ...]
_SIZES = ("add", "mul")  # sums and products of sizes: no extent is negative where no size is


def rectangles(kernel: eq.Kernel, whole: frozenset[tuple[str, View]]) -> dict[str, Shape]:
    """The extents of the flat arrays (parameters) whose every access is under one view, over the kernel's parameters.

    The first is None where the array may have another number of rows: where it does not fill the view (``whole``, see
    :mod:`kraise.emit.loads.views`)."""
    flat = {p.name for p in kernel.params if _is_flat(p.type)}  # type: ignore[attr-defined]
    found: dict[str, set[View]] = {}
    values = [v for v in kernel.returns if not isinstance(v, eq.Version)]
    for stmt in tree.statements(kernel.body):
        values += tree.statement_roots(stmt)
        if isinstance(stmt, eq.Write):
            found.setdefault(stmt.after.array, set()).add(stmt.view)
    for node in tree.walk(*values):
        match node:
            case eq.Read(version=version, view=view):
                found.setdefault(version.array, set()).add(view)
            case eq.Shape(array=array):
                found.setdefault(array, set()).add(())
    seen = {name: next(iter(views)) for name, views in found.items() if len(views) == 1 and name in flat}
    return {
        name: (view[0] if (name, view) in whole and _is_size(view[0]) else None, *view[1:])
        for name, view in seen.items()
        if len(view) > 1 and all(map(_is_size, view[1:]))
    }


def _is_flat(kind: object) -> bool:
    match kind:
        case ArrayType(element=ScalarType(), ndim=1, tail=()):
            return True
    return False


def _is_size(e: eq.Expr) -> bool:
    match e:
        case eq.Const(value=value):
            return isinstance(value, int) and value >= 0
        case eq.Param(name=name):
            return "." not in name
        case eq.Op(name=name, args=args):
            return name in _SIZES and all(map(_is_size, args))
    return False
