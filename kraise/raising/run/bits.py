"""Operations on the bits of an index as arithmetic: ``i & 31`` is a remainder, ``i >> 5`` a quotient."""

from __future__ import annotations

from kraise.analysis.conditions import is_static
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import LARGE, Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import free_indices, topological
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.run.context import Context
from kraise.raising.run.sizes import steering
from kraise.raising.run.state import State
from kraise.raising.threads.row_views import by_launch
from kraise.raising.threads.splits import quotient


def by_bits(cx: Context, st: State, name: str, a: eq.Expr, b: eq.Expr, t: ScalarType) -> eq.Expr:
    """``i & 31``, ``i >> 5`` and ``i << 2`` of an index as a remainder, a quotient and a product."""
    bits = b.value if isinstance(b, eq.Const) and isinstance(b.value, int) else -1
    moving = index_like(a) and bool(free_indices(a))
    plain = moving and 0 <= bits < LARGE
    n = to_poly(b) + 1
    if name == "and_" and index_like(a) and free_indices(a) and n.value is None and is_static(n):
        whole = to_expr(n)  # i & (n - 1)
        if _of_powers(whole):
            digit = quotient(cx, st.path, "mod", a, whole)
            return operation("mod", (a, whole), INT) if digit is None else digit
        if whole in cx.powers:
            what = whole.name if isinstance(whole, eq.Param) else render_expr(whole)
            power_of_two(cx, n, what.replace(".x", ""), "it masks an index")
            digit = quotient(cx, st.path, "mod", a, whole)
            return operation("mod", (a, whole), INT) if digit is None else digit
        cx.masking.add(whole)
    if plain and name == "and_" and bits & (bits + 1) == 0:
        size = eq.Const(bits + 1, INT)
        digit = quotient(cx, st.path, "mod", a, size)
        return operation("mod", (a, size), INT) if digit is None else digit
    if name == "shr" and index_like(a) and index_like(b) and _beyond(cx, st, to_poly(a), to_poly(b)):
        return eq.Const(0, INT)
    if name == "shr" and 0 <= bits < 16 and (plain or (index_like(a) and by_launch((a,)))):
        size = eq.Const(1 << bits, INT)
        digit = quotient(cx, st.path, "floordiv", a, size)
        return operation("floordiv", (a, size), INT) if digit is None else digit
    if name == "shl" and 0 <= bits < 16 and (plain or (index_like(a) and by_launch((a,)))):
        return operation("mul", (a, eq.Const(1 << bits, INT)), INT)
    rows = moving or (name == "shl" and t.kind == "int" and not isinstance(a, eq.Const) and _of_sizes(cx, a))
    if name in ("shl", "shr") and rows and (power := _row(cx, st, b, t)) is not None:
        if name == "shl":
            return operation("mul", (a, power), INT)
        digit = quotient(cx, st.path, "floordiv", a, power)
        return operation("floordiv", (a, power), INT) if digit is None else digit
    if name == "shl" and isinstance(a, eq.Const) and isinstance(a.value, int) and 0 < a.value < LARGE:
        return _power(cx, st, a, b, t)
    return operation(name, (a, b), t)


def _beyond(cx: Context, st: State, a: Poly, b: Poly) -> bool:
    """Whether all bits of ``a`` are shifted out, being no more than ``b`` are (``i >> 4 + i``, what scans come to whose
    padding lacks its brackets): a number is less than two to itself."""
    params = {n for n in topological((to_expr(a), to_expr(b))) if isinstance(n, eq.Param)}
    sizes = params and (p for p in sorted(params, key=lambda p: p.name) if p.name in steering(cx))
    known = (*st.path, *st.facts, *(eq.Op("ge", (p, eq.Const(0, INT)), BOOL) for p in sizes))
    return all(nonnegative(known, p) for p in (b - a, a))


def _row(cx: Context, st: State, b: eq.Expr, t: ScalarType) -> eq.Expr | None:
    """``1 << b`` of a size b: the elements of a row."""
    if isinstance(b, eq.Const) or not _of_sizes(cx, b):
        return None
    t = ScalarType("int", t.bits) if t.kind == "uint" else t
    power = _power(cx, st, eq.Const(1, t), b, t)
    return power if index_like(power) and _of_powers(power) else None


def _of_sizes(cx: Context, e: eq.Expr) -> bool:
    """Whether a number is made of sizes alone."""
    sizes = steering(cx)
    named = (n.name in sizes for n in topological((e,)) if isinstance(n, eq.Param))
    return index_like(e) and is_static(to_poly(e)) and all(named)


def _of_powers(e: eq.Expr) -> bool:
    """Whether a number is a power of two by its form."""
    match e:
        case eq.Op(name="shl", args=(eq.Const(value=int() as n), _)):
            return n > 0 and n & (n - 1) == 0
        case eq.Op(name="mul", args=args):
            return all(map(_of_powers, args))
        case eq.Const(value=int() as n):
            return n > 0 and n & (n - 1) == 0
    return False


def rows_by_bits(e: eq.Expr) -> bool:
    """Whether a number is a size times a power of two (``n << b``): it is not negative, as sizes are."""
    match e:
        case eq.Op(name="mul", args=(a, b)):
            return any(_of_powers(p) and isinstance(n, eq.Param | eq.Shape) for p, n in ((a, b), (b, a)))
    return False


def _power(cx: Context, st: State, a: eq.Const, b: eq.Expr, t: ScalarType) -> eq.Expr:
    """``1 << (d + 1)`` of a size d as ``2 * (1 << d)``, as which it is compared with other powers; an index that fits
    its type is 1 at least."""
    rest = to_poly(b) if index_like(b) else Poly()
    further = rest.offset
    rest -= further
    sizes = steering(cx)
    if not 0 <= further < 16 or not rest.terms or not all(c > 0 for c in rest.terms.values()):
        return operation("shl", (a, b), t)
    if not all(len(m) == 1 and isinstance(m[0], eq.Param) and m[0].name in sizes for m in rest.terms):
        return operation("shl", (a, b), t)
    if a.value != 1:
        return operation("mul", (a, _power(cx, st, eq.Const(1, a.type), b, t)), t)
    power = operation("shl", (a, to_expr(rest)), t)
    if index_like(power):
        st.facts = tuple(dict.fromkeys((*st.facts, eq.Op("ge", (power, eq.Const(1, INT)), BOOL))))
    return operation("mul", (power, eq.Const(1 << further, t)), t) if further else power


def power_of_two(cx: Context, size: Poly, what: str, why: str) -> None:
    """Demands that ``size``, by name ``what``, is a power of two."""
    if size.value is not None and size.value & (size.value - 1) == 0:
        return
    e = to_expr(size)
    test = eq.Op("eq", (simplify.op("and_", (e, to_expr(size - 1)), INT), eq.Const(0, INT)), BOOL)
    message = f"{what} must be a power of two"
    if (test, message) not in cx.checks:
        cx.checks.append((test, message))
        cx.assumptions.append(f"{what} is a power of two ({why})")


__all__ = ["by_bits", "power_of_two", "rows_by_bits"]
