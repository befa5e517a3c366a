"""An array that may have no elements, while lanes that a mask hides ask for one: it gets a cell for them.

``x.at[places].get(mode="clip")`` brings places inside; where there is nothing, JAX raises. (The entries of a sparse
matrix without entries; what a search looks through.) Asked for are places that the kernel finds by itself: what indices
or an argument number is there. An array has elements where the gather has lanes if its extent is that of an axis of
theirs, or if the kernel loads or stores as many cells of it anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from kraise.emit import tree
from kraise.emit.blocks import Doubt
from kraise.emit.context import Assign, Context, Frame
from kraise.emit.loads.dims import Dim, Gather, Scalar
from kraise.emit.loads.filled import by_launch
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq

Reached = dict[tuple[str, int], list[Linear]]


def reached(kernel: eq.Kernel) -> Reached:
    """The numbers of cells along each axis of an array of which slices are loaded or stored."""
    ranges: dict[str, set[eq.Axis]] = {}
    sites: list[tuple[str, tuple[eq.Expr, ...]]] = []
    roots = [v for v in kernel.returns if not isinstance(v, eq.Version)]
    for s in tree.statements(kernel.body):
        roots += tree.statement_roots(s)
        if isinstance(s, eq.Write):
            for a in s.axes:
                ranges.setdefault(a.name, set()).add(a)
            if not (s.safe or s.view or s.where is not None):
                sites.append((s.after.array, s.subscripts))
    for node in tree.walk(*roots):
        for a in tree.axes_of(node):
            ranges.setdefault(a.name, set()).add(a)
        if isinstance(node, eq.Read) and not (node.safe or node.view or node.outside):
            sites.append((node.version.array, node.subscripts))
    found: Reached = {}
    for array, subscripts in sites:
        for k, place in enumerate(subscripts):
            form = linear(place)
            index = form.terms[0][0] if len(form.terms) == 1 else None
            if isinstance(index, eq.Index) and form.terms[0][1] > 0 and len(own := ranges.get(index.name, set())) == 1:
                (axis,) = own
                found.setdefault((array, k), []).append(linear(axis.hi) - linear(axis.lo))
    return found


def doubted(context: Context, dims: Sequence[Dim], extents: Sequence[Linear]) -> None:
    """Notes the axes that must not be empty where a load or a store is traced: a round of a loop always is."""
    around = [b for b in context.blocks[1:] if not b.unrolled]
    axes = [b.axis for b in around]
    rounds = tuple(linear(a.hi) - linear(a.lo) if a is not None else Linear() for a in axes)
    for dim, extent in zip(dims, extents, strict=True):
        if isinstance(dim, Scalar) or (isinstance(dim, Gather) and around):
            context.doubts.append(Doubt(extent, rounds, dim.expr))


def with_one(context: Context, base: Py, node: eq.Read, extents: tuple[Linear, ...], frame: Frame) -> Py:
    """``base``, or a variable that holds it with a cell more where it has none."""
    if not any(_found(context, place) for place in node.subscripts):
        return base
    sizes = [size for a in frame if (size := context.size(a)) is not None]
    known = context.reached if not node.view else {}
    # what stores to no cell of an argument does nothing
    writes = (s for s in tree.statements(context.kernel.body) if isinstance(s, eq.Write))
    written = (s.axes for s in writes if s.after.array in context.params)
    stored = [size for axes in written for a in axes if (size := context.size(a)) is not None]
    stored = [size for size in stored if not any(size.same(e) for e in extents)]
    doubtful = [
        k
        for k, extent in enumerate(extents)
        if not context.never_negative(extent + -1)
        and not any(size.terms and nonnegative(extent - size) for size in sizes)
        and not any(size.same(r) for r in known.get((node.version.array, k), ()) for size in (*sizes, *stored))
    ]
    if not doubtful or by_launch(node.view) or not all(map(context.is_static, extents)):
        return base
    key = ("one cell", node.version, node.view)
    for block in context.blocks:
        if key in block.variables:
            return Atom(block.variables[key][0])
    depth = next((d for d, b in enumerate(context.blocks) if node.version in b.bound), 0)
    shape = [
        py.call("max", context.static(e), py.number(1)) if k in doubtful else context.static(e)
        for k, e in enumerate(extents)
    ]
    name = context.names.fresh(f"some_{node.version.array.split('.')[-1]}")
    made = py.call("jnp.resize", base, shape[0] if len(shape) == 1 else py.Tup(tuple(shape)))
    context.emit(Assign(name, made), depth)
    context.blocks[depth].variables[key] = (name, ())
    return Atom(name)


def _found(context: Context, place: eq.Expr) -> bool:
    """Whether a part of a place is what a loop, a segment or a reduction leaves."""
    match place:
        case eq.ArgReduce():
            return place in context.starts
        case eq.CarryIn() | eq.FoldResult() | eq.Reduce() | eq.Scan():
            return True
        case eq.Read(version=version) if version.array in context.extents and version.array not in context.params:
            return True
    return any(_found(context, c) for c in tree.children(place))
