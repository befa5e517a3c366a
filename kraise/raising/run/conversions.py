"""Conversions of integers: index arithmetic is a number like another, without a type of its own, where its type holds
it; in 8 or 16 bits that takes a proof."""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.delinearize import provable
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import LARGE, Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT, INT32, UINT32, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.bits import rows_by_bits
from kraise.raising.run.context import Context
from kraise.raising.run.sizes import natural, steering
from kraise.raising.run.state import State
from kraise.raising.threads.groups import sizes_of
from kraise.raising.threads.multiples import parameter
from kraise.raising.threads.row_views import counts_threads

_LONGEST = 1 << 20  # rows


def converted(cx: Context, st: State, t: ScalarType, v: eq.Expr) -> eq.Expr:
    """``v`` as C converts it to ``t``."""
    if t == INT and v.type.is_integer and (v.type.bits is None or index_like(v)):
        return v
    if t == INT32 and isinstance(v, eq.Cast) and v.type == UINT32 and (v.arg.type == t or index_like(v.arg)):
        return _there_and_back(v)
    if isinstance(v, eq.Const) and {t.kind, v.type.kind} == {"int", "uint"}:
        return simplify.cast(t, v)  # what becomes of it in a choice has the sign of its type
    if t.is_integer and t.bits in (8, 16) and index_like(v) and free_indices(v) and _holds(st, t, to_poly(v)):
        return v
    signs = {t.kind, v.type.kind} == {"uint", "int"} and (t.kind == "uint" or (t.bits or 64) <= (v.type.bits or 64))
    of = parameter(cx, v)
    if signs and isinstance(of, eq.Param) and not steering(cx).issuperset(sizes_of(cx, of)) and "." not in of.name:
        return simplify.cast(t, v)  # no size: it may be negative, or (unsigned) become so
    if t.kind == "uint" and (t.bits or 64) >= (v.type.bits or 64) and isinstance(v, eq.Op) and counts_threads(v):
        return replace(v, type=t)
    wide = t.is_integer and (t.bits is None or t.bits >= 32) and v.type.is_integer and index_like(v)
    wide = wide and not (isinstance(v, eq.Const) and abs(int(v.value.real)) >= LARGE)  # of a hash: it keeps its width
    # the range of an index fits a signed integer of its width; an unsigned one if it is not negative, as sizes are
    wide = wide and not (t.bits == 32 and v.type != t and _scaled(v))
    if wide and (
        t.kind == "int"
        or isinstance(of, eq.Param | eq.Shape)
        or rows_by_bits(v)
        or (isinstance(v, eq.Op) and natural(cx, to_poly(v)))
    ):
        return v
    if wide and (provable((*st.path, *st.facts), to_poly(v)) or _of_naturals(cx, st, to_poly(v))):
        return v
    return simplify.cast(t, v)


def _there_and_back(v: eq.Cast) -> eq.Expr:
    """An int that is converted to unsigned and back may wrap: no index does, and what a loop carries does as its rounds
    say. So do sums of it, of whose terms that is said instead."""
    given = v.arg
    if index_like(given) or isinstance(given, eq.CarryIn):
        return given
    if isinstance(given, eq.Op) and given.name in ("add", "sub", "mul") and _of_carried(given):
        return simplify.op(given.name, tuple(_there_and_back(replace(v, arg=a)) for a in given.args), given.type)
    return eq.Cast(INT32, v)


def _of_carried(e: eq.Expr) -> bool:
    if isinstance(e, eq.Op) and e.name in ("add", "sub", "mul") and e.type == INT32:
        return any(map(_of_carried, e.args))
    return isinstance(e, eq.CarryIn)


def _of_naturals(cx: Context, st: State, poly: Poly) -> bool:
    """Whether a number is a sum of products of sizes and of indices that are not negative: ``round * threads + i``."""
    path = (*st.path, *st.facts)

    def natural_one(a: eq.Expr) -> bool:
        one = Poly({(a,): 1})
        return natural(cx, one) or (isinstance(a, eq.Index) and nonnegative(path, one))

    return poly.offset >= 0 and all(c > 0 and all(map(natural_one, m)) for m, c in poly.terms.items() if m)


def _scaled(v: eq.Expr) -> bool:
    """Whether it is an index times what no row is as long as: ``int v = i * 400000000ll`` keeps the low 32 bits."""
    return any(abs(c) > _LONGEST for m, c in to_poly(v).terms.items() if m)


def kept(cx: Context, st: State, t: ScalarType, v: eq.Expr) -> eq.Expr:
    """The result of an operation, as an integer of 8 or 16 bits keeps it."""
    return converted(cx, st, t, v) if t.is_integer and t.bits in (8, 16) and t != v.type else v


def alike(t: ScalarType, parts: tuple[eq.Expr, ...]) -> tuple[eq.Expr, ...]:
    """The operands of an operation in 8 or 16 bits: indices beside numbers of that type have it, too."""
    if not t.is_integer or t.bits not in (8, 16) or all(map(index_like, parts)):
        return parts
    return tuple(simplify.cast(t, p) if index_like(p) and free_indices(p) else p for p in parts)


def arms_alike(a: eq.Expr, b: eq.Expr) -> tuple[eq.Expr, ...]:
    """What a choice is between an index and a number of 8 or 16 bits, or one without a sign: the index is of that type,
    too. (JAX makes a signed integer of ``uint32`` and its own, and a float of ``uint64``.)"""
    if not (a.type.is_integer and b.type.is_integer) or index_like(a) is index_like(b):
        return a, b
    own = (b if index_like(a) else a).type
    if own.bits is None or (own.kind != "uint" and own.bits not in (8, 16)):
        return a, b
    return tuple(eq.Cast(own, to_expr(to_poly(e))) if index_like(e) and free_indices(e) else e for e in (a, b))


def _holds(st: State, t: ScalarType, poly: Poly) -> bool:
    """Whether a type holds the number, as far as the path and the launch say."""
    path, least = (*st.path, *st.facts), t.wrapped(2 ** (t.bits or 0) // 2) if t.kind == "int" else 0
    return provable(path, poly - least) and provable(path, -poly + t.wrapped(least - 1))


def is_true(v: eq.Expr) -> eq.Expr:
    """A number is true if it is not zero."""
    if v.type.kind == "bool":
        return v
    if isinstance(v, eq.Const):
        return eq.Const(bool(v.value), BOOL)
    return simplify.op("ne", (v, eq.Const(0, v.type if v.type.is_integer else INT)), BOOL)


__all__ = ["alike", "arms_alike", "converted", "is_true", "kept"]
