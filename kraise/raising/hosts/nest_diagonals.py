"""One diagonal of a table a launch: the rows and columns of the nest that all launches together are."""

from __future__ import annotations

from kraise.analysis.conditions import classify, conjuncts
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import INT32, ScalarType
from kraise.ir.walk import topological
from kraise.raising.hosts.nest_bodies import NoNest

SUMS = ("add", "sub", "mul", "floordiv", "min", "max")


def columns(kernel: eq.Kernel, number: str, start: k.Expr, stop: k.Expr, step: k.Expr) -> tuple[k.Expr, k.Expr, k.Expr]:
    """Of a kernel that stores the cells of diagonal ``number``: how many rows there are, and the range of the columns,
    counted as the number less the row's. Raises NoNest."""
    (write,) = kernel.body
    assert isinstance(write, eq.Write)
    found = [n for n in topological((write.value, *write.subscripts)) if getattr(n, "name", "") == number]
    one = isinstance(step, k.Const) and step.value == 1
    if len(write.axes) != 1 or not found or not one:
        raise NoNest
    (row,), d = write.axes, to_poly(found[0])
    i = to_poly(eq.Index(row.name, _index_type(write, row.name)))
    low, high = _distance(write, i, d)
    first, last = _as_poly(start), _as_poly(stop)
    if first is None or last is None or to_poly(row.lo).value != 0 or row.step != 1:
        raise NoNest
    # the box of rows and columns has just the diagonals that are launched
    if (low - first).value != 0 or (high + to_poly(row.hi) - last).value != 0:
        raise NoNest
    _same_order(write, found[0], i)
    return in_kernel(row.hi), in_kernel(to_expr(low)), in_kernel(to_expr(high + 1))


def _index_type(write: eq.Write, name: str) -> ScalarType:
    return next(
        n.type for n in topological((*write.subscripts, write.value)) if isinstance(n, eq.Index) and n.name == name
    )


def _distance(write: eq.Write, i: Poly, d: Poly) -> tuple[Poly, Poly]:
    """The least and the largest distance of a diagonal's number from a row's. Raises NoNest."""
    low: list[Poly] = []
    high: list[Poly] = []
    for c in conjuncts(write.where) if write.where is not None else ():
        fact = classify(c)
        if fact is None or fact.kind != "ge":
            raise NoNest
        for bounds, sign in ((low, 1), (high, -1)):
            rest = fact.poly - (d - i) * sign
            if not ({*rest.atoms()} & {*d.atoms(), *i.atoms()}):
                bounds.append(rest * -sign)
    if len(low) != 1 or len(high) != 1 or len(conjuncts(write.where)) != 2:  # type: ignore[arg-type]
        raise NoNest
    return low[0], high[0]


def _same_order(write: eq.Write, d: eq.Expr, i: Poly) -> None:
    """Raises NoNest unless every cell of the array that is loaded is one that the diagonal before has stored just where
    the row before, or the column before in the row, has."""
    diagonal, (index,) = to_poly(d), i.atoms()

    def placed(x: eq.Expr) -> Poly:
        return to_poly(x).substitute(d, diagonal + i)  # the diagonal's number counts columns now

    stored = [placed(x) for x in write.subscripts]
    for n in topological((write.value, *(() if write.where is None else (write.where,)))):
        if not isinstance(n, eq.Read) or n.version.array != write.after.array:
            continue
        if n.view != write.view or len(n.subscripts) != len(stored):
            raise NoNest
        gaps = [s - placed(x) for s, x in zip(stored, n.subscripts, strict=True)]
        if len(gaps) == 1:
            pitch = stored[0].coefficient(index)
            found = [(a, (gaps[0] - pitch * a).value) for a in range(-3, 4)]
            by = next(((a, b) for a, b in found if b is not None), None)
        else:
            by = (gaps[0].value, gaps[1].value) if len(gaps) == 2 and stored[0].coefficient(index).value == 1 else None  # type: ignore[assignment]
        if by is None or by[0] is None or by[1] is None or (by > (0, 0)) is not (by[0] + by[1] > 0):
            raise NoNest


def _as_poly(e: k.Expr) -> Poly | None:
    """A number of the function as the equations have it."""
    match e:
        case k.Const(value=int() as value):
            return to_poly(eq.Const(value, INT32))
        case k.Var(name=name, type=t):
            return to_poly(eq.Param(name, t))
        case k.Shape(array=array, axis=axis, type=t):
            return to_poly(eq.Shape(array, axis, t))
        case k.Op(name="add" | "sub" | "mul" as name, args=(a, b)):
            left, right = _as_poly(a), _as_poly(b)
            if left is None or right is None:
                return None
            return left + right if name == "add" else left - right if name == "sub" else left * right
    return None


def in_kernel(e: eq.Expr) -> k.Expr:
    """A size of the equations as an expression of the function. Raises NoNest."""
    match e:
        case eq.Const(value=value):
            return k.Const(value, INT32)
        case eq.Param(name=name, type=t):
            return k.Var(name, t)
        case eq.Shape(array=array, axis=axis):
            return k.Shape(array, axis)
        case eq.Op(name=name, args=args) if name in SUMS:
            return k.Op(name, tuple(map(in_kernel, args)), INT32)
    raise NoNest
