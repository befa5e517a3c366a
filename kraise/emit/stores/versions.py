"""Array versions as Python variables: rebinding where the old version is dead, views of flat arrays, liveness."""

from __future__ import annotations

import re
from collections.abc import Callable

from kraise.emit import tree
from kraise.emit.context import Assign, Context
from kraise.emit.loads.filled import view_size
from kraise.emit.loads.subscripts import short, viewed
from kraise.emit.lower import Lowering, dtype_text
from kraise.emit.text import python as py
from kraise.emit.text import tiles
from kraise.emit.text.linear import linear
from kraise.emit.text.python import Atom, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import NUMBER

FOREVER = 1 << 60
_NAMES = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def last_uses(kernel: eq.Kernel) -> tuple[dict[eq.Version, int], dict[int, int]]:
    """The last statement (by number, in order) that reads each version; and each statement's number by identity.

    What a fold reads of the versions around it counts up to the fold's end.
    """
    last: dict[eq.Version, int] = {}
    numbers: dict[int, int] = {}
    counter = 0

    def use(version: eq.Version, at: int) -> None:
        last[version] = max(last.get(version, 0), at)

    def visit(body: tuple[eq.Stmt, ...]) -> None:
        nonlocal counter
        for stmt in body:
            counter += 1
            numbers[id(stmt)] = counter
            at = counter
            reads = [n.version for r in tree.statement_roots(stmt) for n in tree.walk(r) if isinstance(n, eq.Read)]
            if isinstance(stmt, eq.Fold):
                visit(stmt.body)
                # what is made within a round dies there
                inner = {c.entry for c in stmt.arrays}
                inner |= {s.after for s in tree.statements(stmt.body) if isinstance(s, eq.Write)}
                inner |= {s.version for s in tree.statements(stmt.body) if isinstance(s, eq.New)}
                for s in tree.statements(stmt.body):
                    if isinstance(s, eq.Fold):
                        inner |= {v for c in s.arrays for v in (c.entry, c.exit, c.result)}
                counter += 1
                end = counter
                numbers[-id(stmt)] = end
                reads += [
                    n.version
                    for s in tree.statements(stmt.body)
                    for r in tree.statement_roots(s)
                    for n in tree.walk(r)
                    if isinstance(n, eq.Read) and n.version not in inner
                ]
                built = [s.before for s in tree.statements(stmt.body) if isinstance(s, eq.Write)]
                built += [c.outside for s in tree.statements(stmt.body) if isinstance(s, eq.Fold) for c in s.arrays]
                reads += [v for v in built if v not in inner]
                for c in stmt.arrays:
                    use(c.exit, end)
                at = end
            for version in reads:
                use(version, at)

    visit(kernel.body)
    for value in kernel.returns:
        if isinstance(value, eq.Version):
            use(value, FOREVER)
        else:
            for n in tree.walk(value):
                if isinstance(n, eq.Read):
                    use(n.version, FOREVER)
    return last, numbers


def dead_after(context: Context, version: eq.Version, stmt: eq.Stmt) -> bool:
    """Whether nothing after ``stmt`` reads ``version``."""
    at = context.numbers.get(-id(stmt) if isinstance(stmt, eq.Fold) else id(stmt), 0)
    return context.last_use.get(version, 0) <= at


def held_by_variables(context: Context, version: eq.Version) -> bool:
    """Whether all that the statements to come need of a version is in variables already."""
    if context.following is None or len(context.blocks) > 1:
        return False
    body, returns = context.following
    if version in returns:
        return False
    roots = [v for v in returns if not isinstance(v, eq.Version)]
    for stmt in tree.statements(body):
        match stmt:
            case eq.Write(before=before) if before is version:
                return False
            case eq.Fold(arrays=arrays) if any(version in (c.outside, c.exit) for c in arrays):
                return False
        roots += tree.statement_roots(stmt)
    known = {k[0] for k in context.blocks[0].variables if isinstance(k, tuple) and isinstance(k[0], eq.Node)}
    known -= context.aliases
    seen: set[eq.Expr] = set()
    stack: list[eq.Expr] = [r for r in roots if isinstance(r, eq.Node)]  # type: ignore[misc]
    while stack:
        node = stack.pop()
        if node in seen or node in known:
            continue
        seen.add(node)
        if isinstance(node, eq.Read) and node.version is version:
            return False
        stack.extend(tree.children(node))
    return True


def variable_for(context: Context, before: eq.Version, after: eq.Version, stmt: eq.Stmt) -> str:
    """The name of the variable that takes a new version."""
    old = context.versions.get(before)
    plain = isinstance(old, Atom) and "." not in old.text
    if before.number == 0 and before.array in context.ndim and old is None and before not in context.lazy:
        old = context.array(before)
        plain = isinstance(old, Atom) and "." not in old.text
    if plain and dead_after(context, before, stmt):
        return old.text  # type: ignore[union-attr]
    if plain and isinstance(stmt, eq.Write) and held_by_variables(context, before):
        context.rebound.add(before)
        context.inline.clear()  # texts that name the variable
        return old.text  # type: ignore[union-attr]
    return context.names.fresh(after.array.split(".")[-1])


def bind(context: Context, version: eq.Version, text: Py) -> None:
    """Says that a variable holds a version from here on."""
    context.versions[version] = text
    context.blocks[-1].bound.add(version)


def assign(low: Lowering, stmt: eq.Write, make: Callable[[Py], Py]) -> None:
    """``y = make(y)`` for the version (or the view) that a store writes."""
    ctx = low.ctx
    if stmt.view:
        base = viewed(ctx, stmt.before, stmt.view)
        value = make(_copied(ctx, base, make))
        name = base.text if dead_after(ctx, stmt.before, stmt) else ctx.names.fresh(base.text)  # type: ignore[union-attr]
        depth = _view_depth(ctx, stmt)
        if depth != len(ctx.blocks) - 1 and name == base.text:  # type: ignore[union-attr]
            name = ctx.names.fresh(name)
        ctx.emit(Assign(name, value, stmt.span))
        _set_view(low, stmt, name)
        return
    base = ctx.array(stmt.before)
    name = variable_for(ctx, stmt.before, stmt.after, stmt)
    ctx.emit(Assign(name, make(base), stmt.span))
    bind(ctx, stmt.after, Atom(name))


def _copied(context: Context, base: Py, make: Callable[[Py], Py]) -> Py:
    """The array of which ``base`` is but a copy, made in the line before for this store: the line goes."""
    lines = context.blocks[-1].lines
    match lines[-1] if lines else None, base:
        case Assign(target=name, value=Atom() as whole), Atom(text=text) if name == text and text not in _NAMES.findall(
            py.flat(make(whole))
        ):
            lines.pop()
            return whole
    return base


def _view_depth(context: Context, stmt: eq.Write) -> int:
    key = ("view", stmt.before, stmt.view)
    return next((d for d, b in enumerate(context.blocks) if key in b.variables), -1)


def assign_whole(low: Lowering, stmt: eq.Write, value: Py) -> None:
    """``y = value`` for a store that covers the version (or the whole of its view)."""
    ctx = low.ctx
    if stmt.view:
        known = ctx.blocks[-1].variables.get(("view", stmt.before, stmt.view))
        again = known[0] if known is not None and dead_after(ctx, stmt.before, stmt) else ""
        name = again or ctx.names.fresh(f"{stmt.before.array.split('.')[-1]}{len(stmt.view)}")
        ctx.emit(Assign(name, value, stmt.span))
        _set_view(low, stmt, name)
        return
    name = variable_for(ctx, stmt.before, stmt.after, stmt)
    ctx.emit(Assign(name, value, stmt.span))
    bind(ctx, stmt.after, Atom(name))


def _set_view(low: Lowering, stmt: eq.Write, name: str) -> None:
    set_view(low.ctx, stmt.before, stmt.after, stmt.view, name, stmt, covers=stmt.covers)


def set_view(
    ctx: Context,
    before: eq.Version,
    after: eq.Version,
    view: tuple[eq.Expr, ...],
    name: str,
    stmt: eq.Stmt,
    *,
    covers: bool = False,
) -> None:
    """The new version is the view ``name``; the flat array is put together when something asks for it."""
    ctx.blocks[-1].variables[("view", after, view)] = (name, ())
    ctx.blocks[-1].bound.add(after)
    base = ctx.under.get((before, view), before)
    ctx.under[(after, view)] = base
    ndim = ctx.array_extents(before, ())
    size = view_size(view, len(ndim))

    depth = len(ctx.blocks) - 1

    def make() -> Py:
        tail = view[len(view) - len(ndim) + 1 :]
        flat: Py = py.method(Atom(name), "ravel") if len(view) > len(ndim) else Atom(name)
        if tail:
            flat = py.method(Atom(name), "reshape", py.number(-1), *(ctx.static(n) for n in tail))
        whole = tiles.whole(ctx.kernel, linear(size))
        gap = ndim[0] - whole
        if covers or (not gap.terms and gap.constant == 0):
            text: Py = flat
        else:
            old = ctx.array(base)
            if short(ctx, before, view):
                length: Py = py.Sub(py.Attr(old, "shape"), (py.number(0),)) if tail else py.Attr(old, "size")
                flat = py.Sub(flat, (Slice(None, length),))
            text = py.method(py.Sub(py.Attr(old, "at"), (Slice(None, ctx.static(whole)),)), "set", flat)
        target = variable_for(ctx, base, after, stmt)
        ctx.emit(Assign(target, text), depth)
        return Atom(target)

    ctx.lazy[after] = make


def array_like(context: Context, stmt: eq.Write) -> Py | None:
    """An array of the shape and type of the one that is written, if one is at hand."""
    if stmt.before in context.lazy:
        return None
    return context.array(stmt.before)


def shape_text(context: Context, stmt: eq.Write) -> Py:
    """The shape of what is written."""
    if stmt.view:
        return py.Tup(tuple(context.static(v) for v in stmt.view))
    if stmt.before.array in context.extents:
        return py.Tup(tuple(context.static(e) for e in context.extents[stmt.before.array]))
    return py.Attr(context.array(stmt.before), "shape")


def dtype_of(context: Context, version: eq.Version) -> Py:
    """The dtype of an array as text."""
    element = context.element(version.array)
    if version.array in context.extents:
        like = context.like.get(version.array)
        if element == NUMBER and like:
            return py.Attr(Atom(context.param_text(like)), "dtype")
        from kraise.emit.loops.carries import of_made

        return of_made(context, version.array, element) or Atom(dtype_text(element))
    if version not in context.versions and version.array in context.ndim:
        # a loop carries its rows only, or it is put together when something asks for it
        return py.Attr(Atom(context.param_text(version.array)), "dtype")
    return py.Attr(context.array(version), "dtype")
