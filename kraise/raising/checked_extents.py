"""``--checked``: that subscripts which sizes and indices decide stay inside their arrays.

The contract is that they do: the text of an unchecked module says nothing of it, and a slice of an array that is
too short is as short as the array. Here the largest and the smallest cell of each access become conditions on shapes.
Only where a box bounds the indices, and no mask: there the extreme cell is one that the source touches.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kraise.analysis.conditions import is_static, static_expr
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import axes_of, children, free_indices, statement_expressions, statements, topological

Env = dict[str, eq.Axis]
Found = tuple[eq.Expr, str]
ZERO = eq.Const(0, INT)
_MOST_VISITS = 4000


def extents(body: tuple[eq.Stmt, ...], given: Collection[str]) -> tuple[list[Found], list[eq.Check]]:
    """The conditions on shapes, each with what it says where it does not hold: those that are known when the function
    is traced, and those that hold a scalar that need not be. ``given``: the arrays that the caller gives."""
    sizes = {p for s in statements(body) for e in statement_expressions(s) for p in _bounding(e)}
    sizes |= {p for s in statements(body) for a in _axes(s) for p in _params(a.lo, a.hi)}
    static: dict[eq.Expr, str] = {}
    traced: dict[eq.Expr, eq.Check] = {}
    for stmt in body:
        if isinstance(stmt, eq.Write):
            for array, subscripts, env in _accesses(stmt):
                if array not in given:
                    continue
                for condition in _inside(array, subscripts, env):
                    what = f"{array}[{', '.join(map(render_expr, subscripts))}] leaves the array"
                    if {*_params(condition)} <= sizes:
                        static.setdefault(condition, f"{what}: {render_expr(condition)} must hold")
                    else:
                        traced.setdefault(condition, eq.Check(what, condition, span=stmt.span))
    return list(static.items()), list(traced.values())


def _accesses(w: eq.Write) -> Iterator[tuple[str, tuple[eq.Expr, ...], Env]]:
    """The loads and the store of a statement that no mask guards, with the axes around them."""
    env = {a.name: a for a in w.axes}
    if w.where is not None:
        return
    if not w.segments and not w.view:
        yield w.after.array, w.subscripts, env
    stack: list[tuple[eq.Expr, Env]] = [(e, env) for e in (*w.subscripts, w.value)]
    visits = 0
    while stack and visits < _MOST_VISITS:
        visits += 1
        node, around = stack.pop()
        match node:
            case eq.Read() if not node.view:
                yield node.version.array, node.subscripts, around
                stack += [(s, around) for s in node.subscripts]
            case eq.Op(name="and" | "or" | "select", args=(first, *_)):
                stack.append((first, around))
            case eq.Reduce() | eq.ArgReduce():
                if node.where is None:
                    stack.append((node.body, around | {a.name: a for a in axes_of(node)}))
            case eq.Op() | eq.Cast():
                stack += [(c, around) for c in children(node)]


def _inside(array: str, subscripts: tuple[eq.Expr, ...], env: Env) -> Iterator[eq.Expr]:
    for at, s in enumerate(subscripts):
        poly = to_poly(s)
        names = poly.indices()
        axes = [env.get(n) for n in sorted(names)]
        if any(a is None or a.step != 1 or not static_expr(a.lo) or not static_expr(a.hi) for a in axes):
            continue
        low = high = poly
        for a in axes:
            assert a is not None
            c = poly.coefficient(eq.Index(a.name, INT)).value
            if c is None:
                break
            index, first, last = eq.Index(a.name, INT), to_poly(a.lo), to_poly(a.hi) - 1
            low = low + ((first if c > 0 else last) - to_poly(index)) * c
            high = high + ((last if c > 0 else first) - to_poly(index)) * c
        if low.indices() or high.indices() or not is_static(low) or not is_static(high):
            continue
        empty = [eq.Op("le", (a.hi, a.lo), BOOL) for a in env.values() if _may_be_empty(a)]
        if len(axes) == 1 and len(env) == 1 and axes[0] is not None and _small(high, axes[0]):
            empty = []  # of no cells the largest one is none
        for holds in (_at_least_zero(low), _below(high, eq.Shape(array, at, INT))):
            if holds is not None:
                for e in empty:
                    holds = eq.Op("or", (e, holds), BOOL)
                yield holds


def _at_least_zero(low: Poly) -> eq.Expr | None:
    """None where it holds by its making: no term of it is less than zero."""
    sizes = all(isinstance(a, eq.Shape) for a in low.atoms())
    if low.value is not None or (sizes and min(low.terms.values()) >= 0):
        return None
    return eq.Op("ge", (to_expr(low), ZERO), BOOL)


def _below(high: Poly, extent: eq.Shape) -> eq.Expr | None:
    """None where the extent itself is the bound."""
    slack = (to_poly(extent) - 1 - high).value
    return None if slack is not None and slack >= 0 else eq.Op("le", (to_expr(high + 1), extent), BOOL)


def _may_be_empty(a: eq.Axis) -> bool:
    count = (to_poly(a.hi) - to_poly(a.lo)).value
    return count is None or count <= 0


def _small(high: Poly, axis: eq.Axis) -> bool:
    """Whether the largest cell of a range without elements is none that an array could lack."""
    gap = (high - (to_poly(axis.hi) - 1)).value
    return gap is not None and gap <= 0 and to_poly(axis.lo).value == 0


def _bounding(root: eq.Expr) -> Iterator[eq.Param]:
    """The parameters that bound an axis below ``root``: they are known when the function is traced."""
    for n in topological((root,)):
        for a in axes_of(n):
            yield from _params(a.lo, a.hi)


def _axes(stmt: eq.Stmt) -> tuple[eq.Axis, ...]:
    own = tuple(getattr(stmt, "axes", ()))
    axis = getattr(stmt, "axis", None)
    return own if axis is None else (*own, axis)


def _params(*roots: eq.Expr) -> Iterator[eq.Param]:
    for n in topological(roots):
        if isinstance(n, eq.Param) and not free_indices(n):
            yield n


__all__ = ["extents"]
