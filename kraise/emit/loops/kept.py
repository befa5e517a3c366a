"""What the gradient of a loop keeps of a round that it does not run again."""

from __future__ import annotations

from kraise.emit import tree
from kraise.ir import equations as eq
from kraise.ir.walk import children, free_indices, statement_expressions, topological

_LINEAR = ("add", "sub", "neg", "select")
_COSTLY = ("pow",)  # takes longer than to fetch what it was


def made_anew(fold: eq.Fold) -> bool:
    """Whether each round makes what it carries as a whole, from that, the round's inputs and what no round changes:
    without loops, and sums only along the axes of what is made."""
    made = [w for w in fold.body if isinstance(w, eq.Write)]
    own = {a.name for w in made for a in w.axes} | {a.name for c in fold.scalars for a in c.axes}
    sums = {a.name for n in topological(statement_expressions(fold)) for a in _summed(n)}
    return len(made) == len(fold.body) and all(w.covers for w in made) and sums <= own


def _summed(node: eq.Expr) -> tuple[eq.Axis, ...]:
    return tree.axes_of(node) if isinstance(node, eq.Reduce | eq.ArgReduce | eq.Scan) else ()


def values_kept(fold: eq.Fold) -> int:
    """How many values of a round its gradient needs: one for each operation that is not linear in what is carried and
    in the round's inputs. 0 where to make them again costs more than to keep them."""
    carried = {c.entry.array for c in fold.arrays}
    index = "" if fold.axis is None else fold.axis.name
    moving: set[eq.Expr] = set()
    found = 0
    for n in topological(statement_expressions(fold)):
        moved = any(a in moving for a in children(n))
        turning = isinstance(n, eq.Read) and (n.version.array in carried or index in free_indices(n))
        if turning or isinstance(n, eq.CarryIn):
            moving.add(n)
        elif moved and n.type.kind not in ("bool", "int", "uint"):
            moving.add(n)
            if isinstance(n, eq.Op) and n.name in _COSTLY:
                return 0
            found += isinstance(n, eq.Op) and not _linear(n)
    return found


def _linear(n: eq.Op) -> bool:
    """Whether no other value is needed for its derivative than numbers and parameters."""
    if n.name in ("mul", "div"):
        first, second = n.args
        return isinstance(second, eq.Const | eq.Param) or (n.name == "mul" and isinstance(first, eq.Const | eq.Param))
    return n.name in _LINEAR


__all__ = ["made_anew", "values_kept"]
