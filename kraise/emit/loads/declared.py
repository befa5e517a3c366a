"""Arrays of which all that is read is added in 64 bits: they are widened once, at the head of the function.

``a = a.astype(jnp.result_type(a, jnp.int64))`` leaves ``jnp.cumsum(a, axis=1)`` and ``x @ y`` as they are.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.context import Assign, Context
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom
from kraise.emit.text.spelling import dtype_text
from kraise.ir import equations as eq
from kraise.ir.operations import WIDENING
from kraise.ir.types import FLOAT64, ScalarType
from kraise.ir.walk import map_statement, transform

Widths = dict[str, ScalarType]


def at_head(kernel: eq.Kernel) -> tuple[eq.Kernel, Widths]:
    """The kernel without what widens elements of such an array, and the arrays."""
    roots = [r for s in tree.statements(kernel.body) for r in tree.statement_roots(s)]
    roots += [r for r in kernel.returns if not isinstance(r, eq.Version)] + [c for c, _ in kernel.checks]
    nodes = list(tree.walk(*roots))
    asked = {w for n in nodes if (w := _widening(n)) is not None and isinstance(n, eq.Op)}
    if not asked:
        return kernel, {}
    written = {s.before.array for s in tree.statements(kernel.body) if isinstance(s, eq.Write)}
    found: dict[str, set[ScalarType | None]] = {}
    for node in nodes:
        for child in tree.children(node):
            if isinstance(child, eq.Read):
                found.setdefault(child.version.array, set()).add(_widening(node))
    for root in roots:
        if isinstance(root, eq.Read):
            found.setdefault(root.version.array, set()).add(None)
    parameters = {p.name for p in kernel.params}  # type: ignore[attr-defined]
    widths: Widths = {}
    for array, kinds in sorted(found.items()):
        kind = next(iter(kinds))
        if len(kinds) == 1 and kind in asked and array in parameters - written:
            widths[array] = kind

    def bare(node: eq.Expr) -> eq.Expr:
        inside = node.args[0] if isinstance(node, eq.Op) else node.arg if isinstance(node, eq.Cast) else None
        known = isinstance(inside, eq.Read) and inside.version.array in widths and _widening(node) is not None
        return inside if known else node  # type: ignore[return-value]

    def through(e: eq.Expr) -> eq.Expr:
        return transform(e, bare)

    changed = replace(
        kernel,
        body=tuple(map_statement(s, through) for s in kernel.body),
        returns=tuple(r if isinstance(r, eq.Version) else through(r) for r in kernel.returns),
        names=tuple(replace(n, expr=through(n.expr)) for n in kernel.names),
        checks=tuple((through(c), said) for c, said in kernel.checks),
    )
    return changed, widths


def widen(context: Context, widths: Widths) -> None:
    """Emits the head's lines."""
    for array, kind in widths.items():
        own = Atom(context.param_text(array))
        dtype = py.call("jnp.result_type", own, Atom(f"jnp.{kind}"))
        context.emit(Assign(own.text, py.method(own, "astype", dtype)), 0)


def convert(context: Context, kernel: eq.Kernel) -> None:
    """Emits the lines of arrays whose elements the function takes as ones of another type, wider floats as they are."""
    for array, kind in kernel.converts:
        own, dtype = Atom(context.param_text(array)), Atom(dtype_text(kind))
        wide = dtype if kind == FLOAT64 else py.call("jnp.result_type", own, dtype)
        context.emit(Assign(own.text, py.method(own, "astype", wide)), 0)


def _widening(node: eq.Expr) -> ScalarType | None:
    match node:
        case eq.Op(name=name):
            return WIDENING.get(name)
        case eq.Cast(type=kind) if kind == FLOAT64:
            return kind
    return None


__all__ = ["at_head", "convert", "widen"]
