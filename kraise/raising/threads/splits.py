"""``idx // W`` and ``idx % W``: one index becomes two (raising.md, steps 2 and 7).

Where a kernel takes a flat index apart, the index is ``q * W + r`` with 0 <= r < W, and q and r are the indices that
the equations are about. The run is repeated with the index split (:class:`Split` asks for it); a quotient or remainder
of such a sum then is q or r by arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from kraise.analysis.conditions import Fact, classify, conjuncts, fact_to_expr, is_static
from kraise.analysis.delinearize import leading_digit, provable
from kraise.analysis.division import divided, quotient_of
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute

if TYPE_CHECKING:
    from kraise.raising.run.context import Context

Path = tuple[eq.Expr, ...]


class Split(Exception):
    """Index ``name`` is divided by ``size``: run again with it taken apart. ``strided``: it is that of a grid-stride
    loop, which may have its thread's name."""

    def __init__(self, name: str, size: eq.Expr, strided: bool):
        super().__init__(f"{name} is divided")
        self.name = name
        self.size = size
        self.strided = strided


def quotient(cx: Context, path: Path, name: str, a: eq.Expr, b: eq.Expr) -> eq.Expr | None:
    """``a // b`` or ``a % b`` (by ``name``) of index arithmetic, if it is a digit of ``a``; None if it is left as it
    is.

    Raises:
        Split: ``a`` is an index that can be taken apart so that it becomes one.
    """
    p, size = to_poly(a), to_poly(b)
    if not p.indices() or not is_static(size):
        return None
    if size.value is not None and size.value <= 0:
        return None
    if size.value is None or size.value > 1:
        high, low = divided(p, size)
        # what leaves no rest does so whatever the sign (of no elements, where the size is 0, there is none to divide)
        if not low.terms or (provable(path, low) and provable(path, size - 1 - low)):
            return to_expr(high if name in ("floordiv", "tdiv") else low)
        # idx = y * nx + x asks for y and x before it can be divided by nx * ny
        target = low if low.terms and high.terms else p
        (atom,) = target.atoms() if len(target.terms) == 1 and len(target.atoms()) == 1 else (None,)
        index = atom.name if isinstance(atom, eq.Index) and target == to_poly(atom) else ""
        if index in cx.divisible and (size.value is None or _in_both_digits(cx, path, index, name, size.value)):
            raise Split(index, b, index in cx.strides)
    return _above_digits(path, name, a, b)


def _in_both_digits(cx: Context, path: Path, index: str, name: str, size: int) -> bool:
    """Whether quotient and remainder of an index are asked for that a multiple of a number of sizes bounds, ``i < 8 *
    n``: both have ranges of their own. (Of ``y / 2`` alone, y < 2 * n, the whole index says more.)"""
    cx.digits_by_number.add((index, size, name in ("floordiv", "tdiv")))
    if not cx.digits_by_number >= {(index, size, whole) for whole in (True, False)}:
        return False
    for fact in (f for c in path if (f := classify(c)) is not None and f.kind == "ge"):
        end = fact.poly + to_poly(eq.Index(index, INT)) + 1
        if not end.indices() and end.value is None and all(c % size == 0 for c in end.terms.values()):
            return True
    return False


def _above_digits(path: Path, name: str, a: eq.Expr, b: eq.Expr) -> eq.Expr | None:
    """``(w * X + r) / (w * c)`` with 0 <= r < w and X >= 0 is ``X / c``, and the remainder ``w * (X % c) + r``."""
    p, size = to_poly(a), to_poly(b)
    for atom in sorted(p.atoms(), key=by_text):
        w = p.coefficient(atom)
        c = quotient_of(size, w) if isinstance(atom, eq.Index) and w.value != 1 else None
        if c is None or c.value == 1:
            continue
        high, low = divided(p, w)
        if provable(path, low) and provable(path, w - 1 - low) and provable(path, high):
            whole = name in ("floordiv", "tdiv")
            if c.value is not None and c.value > 0:  # rounding down is all that there is: X is not negative
                name = "floordiv" if whole else "mod"
            digit = eq.Op(name, (to_expr(high), to_expr(c)), a.type)
            return digit if whole else to_expr(to_poly(digit) * w + low)
    return None


@dataclass(frozen=True)
class Splitting:
    """Which indices are taken apart, in order, and by what; the source's ``names`` for digits, by the name that they
    had in an earlier run; ``undivided`` indices stay whole. Those of grid-stride loops are ``strided``."""

    splits: Sequence[tuple[str, eq.Expr]] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    undivided: Set[str] = frozenset()
    strided: Set[str] = frozenset()


def split_index(cx: Context, index: eq.Index, path: Path) -> tuple[eq.Expr, tuple[str, ...], Path]:
    """An index from zero taken apart as asked: its value, the indices that it consists of, and their bounds."""
    if index.name not in cx.splitting.undivided:
        cx.divisible.add(index.name)
    cx.threads["whole", 0] = index
    indices, path = split_threads(cx, (index.name,), path, cx.splitting.splits)
    return cx.threads.pop(("whole", 0)), indices, path


def own_splits(cx: Context) -> list[tuple[str, eq.Expr]]:
    """The splits of the threads' own indices."""
    return [(name, size) for name, size in cx.splitting.splits if name not in cx.splitting.strided]


def split_threads(
    cx: Context, indices: tuple[str, ...], path: Path, splits: Sequence[tuple[str, eq.Expr]]
) -> tuple[tuple[str, ...], Path]:
    """Takes thread indices apart as asked; the values of the hardware indices, the indices and their bounds follow."""
    names, undivided = cx.splitting.names, cx.splitting.undivided
    for name, size in splits:
        high = names.get(f"{name}_high", f"{name}_high")
        low = names.get(f"{name}_low", f"{name}_low")
        q, r = eq.Index(high, INT), eq.Index(low, INT)
        old = eq.Index(name, INT)
        if name not in indices:
            renamed = names.get(name)
            if renamed not in indices:
                continue
            name, old = renamed, eq.Index(renamed, INT)
        whole = to_expr(to_poly(q) * to_poly(size) + to_poly(r))
        cx.threads = {key: _normal(substitute(v, {old: whole})) for key, v in cx.threads.items()}
        zero = eq.Const(0, INT)
        own: Path = (
            eq.Op("ge", (q, zero), BOOL),
            eq.Op("ge", (r, zero), BOOL),
            eq.Op("lt", (r, size), BOOL),
        )
        if cx.part_rows:
            own = (*own, at_least(to_expr(to_poly(size)), 1))
            cx.facts = tuple(dict.fromkeys((*cx.facts, own[-1])))
        kept: list[eq.Expr] = []
        for c in path:
            if name not in free_indices(c):
                kept.append(c)
            elif classify(c) != Fact("ge", to_poly(old)):
                kept.extend(_by_digit(substitute(c, {old: whole}), size, (*path, *own)))
        path = tuple(dict.fromkeys((*kept, *own)))
        if any(name in free_indices(c) for c in cx.facts):
            moved = [d for c in cx.facts for d in _by_digit(substitute(c, {old: whole}), size, own)]
            cx.facts = tuple(dict.fromkeys(c for c in moved if not isinstance(c, eq.Const)))
        indices = tuple(n for i in indices for n in ((high, low) if i == name else (i,)))
        cx.blocks = tuple(n for b in cx.blocks for n in ((high, low) if b == name else (b,)))
        cx.digits |= {high: f"{name}_high", low: f"{name}_low"}
        for new, plain in ((high, f"{name}_high"), (low, f"{name}_low")):
            if not {new, plain} & undivided:
                cx.divisible.add(new)
    return indices, path


def _by_digit(condition: eq.Expr, size: eq.Expr, path: Path) -> Path:
    """``32 * q + r < 32 * n`` with 0 <= r < 32 is ``q < n``; other conditions digit by digit."""
    fact, radix = classify(condition), to_poly(size)
    if fact is not None and fact.kind == "ge" and radix.value is not None:
        high, low = divided(fact.poly, radix)
        whole = low.offset // radix.value  # 511 - 64 * q - r: 7 - q and 63 - r
        if high.terms:
            high, low = high + whole, low - radix * whole
        for shift in (0, 1):
            rest = low + radix * shift
            if high.terms and low.indices() and provable(path, rest) and provable(path, radix - 1 - rest):
                return (fact_to_expr(Fact("ge", high - shift)),)
    return digitwise(condition, path)


def _normal(e: eq.Expr) -> eq.Expr:
    return to_expr(to_poly(e), e.type)


def digitwise(condition: eq.Expr, path: Path) -> Path:
    """``y * W + x < H * W`` with 0 <= x < W is ``y < H``: facts about sums of digits as facts about the leading one."""
    out: list[eq.Expr] = []
    for c in conjuncts(condition):
        fact = classify(c)
        if fact is not None and fact.kind == "eq":
            out += _equal_digits(fact.poly, path) or (c,)
            continue
        reduced = None if fact is None or fact.kind != "ge" else leading_digit(fact.poly, path)
        out.append(c if reduced is None else fact_to_expr(Fact("ge", reduced)))
        if reduced is None and fact is not None and fact.kind == "ge":
            out += _rows(fact.poly, path)
    return tuple(out)


def _equal_digits(poly: Poly, path: Path) -> Path:
    """``32 * q + r == 32 * n - 1`` with 0 <= r < 32 is ``q == n - 1 and r == 31``; () where no digits are found."""
    sizes = {
        poly.coefficient(a).value for a in poly.atoms() if isinstance(a, eq.Index) and poly.is_affine_in((a.name,))
    }
    for size in sorted({abs(n) for n in sizes if n} - {1}, reverse=True):
        high, low = divided(poly, Poly({(): size}))
        for shift in (0, -1, 1):
            rest = low + size * shift
            if not high.terms or not rest.indices():
                continue
            if provable(path, rest + (size - 1)) and provable(path, rest * -1 + (size - 1)):
                return fact_to_expr(Fact("eq", high - shift)), fact_to_expr(Fact("eq", rest))
    return ()


def _rows(poly: Poly, path: Path) -> list[eq.Expr]:
    """``q * s + r < n`` with r >= 0 says that q is below the number of rows of s that n begins, where the path says
    that s is one or more (the rows may be parts: see :class:`~kraise.raising.learned.Learned`)."""
    out: list[eq.Expr] = []
    indices = [a for a in poly.atoms() if isinstance(a, eq.Index)]
    if not poly.is_affine_in(frozenset(i.name for i in indices)):
        return out
    for q in indices:
        size = -poly.coefficient(q)
        rest = poly.without(q)
        for r in indices:
            if r is not q and at_least(r, 0) in path and _some(-rest.coefficient(r), path):
                rest = rest.without(r)
        if size.value is None and _some(size, path) and not rest.indices() and is_static(rest):
            high, low = divided(rest, size)
            begun = high.terms and low.value is not None and low.value < 0  # n * s - 1: fewer than n
            last = high - 1 if begun else to_poly(_rounded_down(to_expr(rest), size))
            out.append(fact_to_expr(Fact("ge", last - to_poly(q))))
    return out


def _rounded_down(e: eq.Expr, size: Poly) -> eq.Expr:
    """``e // size``; of a quotient by a size (all are positive here) one by the product."""
    match e:
        case eq.Op(name="floordiv", args=(inner, by)):
            return eq.Op("floordiv", (inner, to_expr(to_poly(by) * size)), INT)
    return eq.Op("floordiv", (e, to_expr(size)), INT)


def _some(size: Poly, path: Path) -> bool:
    """Whether a product of sizes is one or more because the path says so of each of them."""
    if len(size.terms) != 1:
        return False
    ((sizes, times),) = size.terms.items()
    return times > 0 and all(at_least(n, 1) in path for n in sizes)


def at_least(e: eq.Expr, least: int) -> eq.Expr:
    """``e >= least`` as a condition of the path."""
    return eq.Op("ge", (e, eq.Const(least, INT)), BOOL)
