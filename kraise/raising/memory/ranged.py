"""What the conjuncts of a domain say of an index or a subscript in it."""

from __future__ import annotations

from collections.abc import Iterable

from kraise.analysis.boxes import largest
from kraise.analysis.conditions import classify, conjuncts, is_static, static_expr
from kraise.analysis.dependence import implied, nonnegative
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, statements, topological
from kraise.raising.run.arithmetic import index_like
from kraise.raising.run.bit_places import involution
from kraise.raising.threads.row_views import by_launch
from kraise.raising.writes.exchanged import mixes

Domain = tuple[eq.Expr, ...]


def within_range(poly: Poly, domain: Domain) -> Poly | None:
    """A bound of a clamped or wrapped index (``max(y - 1, 0)``, ``(y + 1) % n``): what bounds the index itself, or the
    number that it is clamped or wrapped to."""
    candidates: list[Poly] = []
    for atom in poly.atoms():
        for node in topological((atom,)):
            match node:
                case eq.Index():
                    candidates.append(largest(to_poly(node), domain) or Poly())
                case eq.Op(name="min", args=args):
                    candidates += [to_poly(a) for a in args]
                case eq.Op(name="mod" | "tmod", args=(_, m)):
                    candidates.append(to_poly(m) + -1)
    found: Poly | None = None
    for c in dict.fromkeys(candidates):
        if c.terms and not c.indices() and nonnegative(domain, c - poly):
            found = c if found is None or nonnegative(domain, found - c) else found
    return found


def remainder_below(s: eq.Expr, domain: Domain) -> eq.Expr | None:
    """``m - 1`` for ``x % m`` that lies in 0 ... m - 1 over the domain: it is in the array if that is."""
    match s:
        case eq.Op(name="mod" | "tmod" as name, args=(x, m)) if free_indices(x):
            some = implied(domain, eq.Op("ge", (m, eq.Const(1, INT)), BOOL))
            if some and (name == "mod" or implied(domain, eq.Op("ge", (x, eq.Const(0, INT)), BOOL))):
                return to_expr(to_poly(m) + -1)
    return None


def turned(s: eq.Expr, domain: Domain) -> eq.Index | None:
    """The index of ``(i + c) % n`` whose range is n, or of ``i ^ c``, or of its bits in another order: it takes the
    same values as the index."""
    match s:
        case eq.Op(name="mod" | "tmod", args=(x, m)) if remainder_below(s, domain) is not None:
            moved = to_poly(x)
            names = sorted(moved.indices())
            if len(names) != 1 or not moved.is_affine_in(names):
                return None
            index = eq.Index(names[0], INT)
            own = eq.Op("lt", (index, m), BOOL) in domain and moved.coefficient(index).value in (1, -1)
            return index if own else None
        case eq.Op(name="xor", args=args):
            ends = ((i, b) for i in args for b in domain if isinstance(i, eq.Index) and isinstance(b, eq.Op))
            below = (i for i, b in ends if b.name == "lt" and b.args[0] is i and mixes(s, to_poly(b.args[1]).value))
            return next(below, None)
    bits = involution(s)
    below_all = bits is not None and eq.Op("lt", (bits[0], eq.Const(1 << bits[1], INT)), BOOL) in domain
    return bits[0] if bits is not None and below_all else None


def by_launch_only(index: eq.Index, domain: Domain) -> bool:
    """Whether the threads of the launch, of which there may be more than elements, are all that bounds the index."""
    bounds = above(index, domain)
    return bool(bounds) and all(_counts_threads(c.args[1]) for c in bounds)


def above(index: eq.Index, domain: Domain) -> list[eq.Op]:
    """What the domain has of the index from above."""
    return [c for c in domain if isinstance(c, eq.Op) and c.name == "lt" and c.args[0] is index]


def counted(index: eq.Index, path: Iterable[eq.Expr], domain: Domain) -> bool:
    """Whether a number of elements that is read stops the source, where the range is the launch's or a number: it is
    rounded up to whole blocks, the array need not be."""
    launched = all(by_launch((c.args[1],)) or isinstance(c.args[1], eq.Const) for c in above(index, domain))
    return launched and any(_bounded_by_data(c, index) for c in path)


def begun(index: eq.Index, path: Iterable[eq.Expr], domain: Domain) -> bool:
    """Whether a size stops threads before the last of a block (``block * blockDim + thread < n``), where a range goes
    as far as that (``k < threadIdx.x``)."""
    bounds = above(index, domain)
    if not bounds or not all(by_launch((c.args[1],)) for c in bounds):
        return False
    return any(of_indices(c) and _has_size(c) and not implied(domain, c) for c in path)


def _has_size(c: eq.Expr) -> bool:
    return any(isinstance(n, eq.Param | eq.Shape) and not by_launch((n,)) for n in topological((c,)))


def _counts_threads(bound: eq.Expr) -> bool:
    """Whether a number of the launch is of threads (or of their warps), not of blocks: there is one for each row."""
    sizes = [n for n in topological((bound,)) if isinstance(n, eq.Param | eq.Shape)]
    names = [n.name if isinstance(n, eq.Param) else "" for n in sizes]
    if not all(n.startswith(("threads.", "grid.", "block.", "warps.")) for n in names):
        return False
    terms = to_poly(bound).terms
    several = any(abs(c) > 1 for m, c in terms.items() if m)  # blocks of a number of threads
    several = several or any(
        {a.name.split(".")[0] for a in m if isinstance(a, eq.Param)} >= {"block", "grid"} for m in terms
    )
    return several or any(n.startswith(("threads.", "warps.")) for n in names)


def bounds_alone(c: eq.Expr, index: eq.Index) -> bool:
    """Whether a condition is that the index alone stays below a size."""
    fact = classify(c)
    if fact is None or fact.kind != "ge" or not is_static(fact.poly.without(index)):
        return False
    step = fact.poly.coefficient(index).value
    return step is not None and step < 0


def _bounded_by_data(c: eq.Expr, index: eq.Index) -> bool:
    """Whether a condition is that the index stays below what data say (a count that is read)."""
    match c:
        case eq.Op(name="lt" | "le", args=(low, high)) | eq.Op(name="gt" | "ge", args=(high, low)):
            step = to_poly(_plain(low)).coefficient(index).value
            return step is not None and step > 0 and not free_indices(high) and not static_expr(_plain(high))
    return False


def _plain(e: eq.Expr) -> eq.Expr:
    while isinstance(e, eq.Cast) and e.type.is_integer:
        e = e.arg
    return e


def of_indices(c: eq.Expr) -> bool:
    """Whether a condition bounds indices by sizes alone."""
    fact = classify(c)
    return (
        fact is not None
        and bool(fact.poly.indices())
        and all(isinstance(a, eq.Index) or static_expr(a) for a in fact.poly.atoms())
    )


def is_rounded(atom: object) -> bool:
    return isinstance(atom, eq.Op) and atom.name in ("floordiv", "tdiv")


def from_zero(index: eq.Index, domain: Domain) -> bool:
    """Whether the index starts at zero, or is one place: a slice ``x[:n]`` of an array that is too short is an error
    at trace time."""
    zero = eq.Op("ge", (index, eq.Const(0, INT)), BOOL)
    return zero in domain or (_one_place(index, domain) and implied(domain, zero))


def sliced(s: eq.Expr, viewed: bool, domain: Domain) -> eq.Index | None:
    """The index over which ``s`` is a slice from an array's first cells on, as far as the array has cells."""
    index = s if isinstance(s, eq.Index) else turned(s, domain)
    if index is None or not from_zero(index, domain):
        index = None if viewed else _from_within(s, domain)
    return None if index is None or by_launch_only(index, domain) else index


def _from_within(s: eq.Expr, domain: Domain) -> eq.Index | None:
    """The index of ``i`` or ``i - c`` that starts at a number, where the first place is none before the array: what was
    said of a slice from zero on holds of one from there on. (``i + c`` may leave where no lane asks for it.)"""
    place = to_poly(s) if index_like(s) else None
    if place is None or len(place.indices()) != 1:
        return None
    (name,) = place.indices()
    index = eq.Index(name, INT)
    back = (place - to_poly(index)).value  # None where the index is multiplied, too
    lows = [to_poly(c.args[1]).value for c in domain if isinstance(c, eq.Op) and c.name == "ge" and c.args[0] is index]
    first = max((n for n in lows if n is not None), default=None)
    return index if back is not None and back <= 0 and first is not None and first + back >= 0 else None


def _one_place(index: eq.Index, domain: Domain) -> bool:
    own = [c for c in domain if isinstance(c, eq.Op) and c.args[0] is index]
    low, high = ([to_poly(c.args[1]) for c in own if c.name == name] for name in ("ge", "lt"))
    return any((h - n).value == 1 for h in high for n in low)


def box(axes: tuple[eq.Axis, ...]) -> Domain:
    """The conjuncts that say what the axes say."""
    out: list[eq.Expr] = []
    for a in axes:
        i = eq.Index(a.name, INT)
        out += conjuncts(eq.Op("ge", (i, a.lo), BOOL))
        out += conjuncts(eq.Op("lt", (i, a.hi), BOOL))
        if a.step != 1:
            gap = eq.Op("mod", (eq.Op("sub", (i, a.lo), INT), eq.Const(a.step, INT)), INT)
            out.append(eq.Op("eq", (gap, eq.Const(0, INT)), BOOL))
    return tuple(out)


def sizes_of(stmts: tuple[eq.Stmt, ...]) -> frozenset[eq.Expr]:
    """The parameters that are bounds of stores and of loops."""
    axes: list[eq.Axis] = []
    for s in statements(stmts):
        if isinstance(s, eq.Write):
            axes += s.axes
        elif isinstance(s, eq.Fold) and s.axis is not None:
            axes.append(s.axis)
    return frozenset(n for n in topological(e for a in axes for e in (a.lo, a.hi)) if isinstance(n, eq.Param))


__all__ = [
    "above",
    "begun",
    "bounds_alone",
    "box",
    "counted",
    "from_zero",
    "is_rounded",
    "of_indices",
    "remainder_below",
    "sizes_of",
    "sliced",
    "within_range",
]
