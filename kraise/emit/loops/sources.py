"""What a value's dtype comes from: the nodes that reach it, through what loops carry and put out, too."""

from __future__ import annotations

from collections.abc import Iterator

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.ir import equations as eq


def made_from(context: Context) -> dict[tuple[str, str], tuple[eq.Expr, ...]]:
    """What each carried scalar and each output of a fold is made from, by fold and name."""
    if context.sources is None:
        context.sources = {}
        for stmt in tree.statements(context.kernel.body):
            if isinstance(stmt, eq.Fold):
                context.sources |= {(stmt.name, s.name): (s.init, s.update) for s in stmt.scalars}
                context.sources |= {(stmt.name, o.name): (o.value,) for o in stmt.outputs}
    return context.sources


def sources(ctx: Context, root: eq.Expr) -> Iterator[eq.Expr]:
    """The nodes whose dtype reaches a value: not those of conditions, comparisons and subscripts."""
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        below: tuple[eq.Expr, ...] = ()
        match node:
            case eq.Op(name="select", args=args):
                below = args[1:]
            case eq.Op(args=args, type=kind) if kind.kind != "bool":
                below = args
            case eq.HelperCall(args=args):
                below = args
            case eq.Reduce(body=body):
                below = (body,)
            case eq.Scan(body=body, init=init, other=other):
                below = (body, init) if other is None else (body, init, other)
            case eq.CarryIn(fold=fold, name=name) | eq.FoldResult(fold=fold, name=name):
                below = made_from(ctx).get((fold, name), ())
        yield node
        fresh = [b for b in reversed(below) if b not in seen]
        seen.update(fresh)
        stack.extend(fresh)
