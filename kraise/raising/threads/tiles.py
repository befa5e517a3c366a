"""Two indices that occur only as digits of one number are that number (raising.md, step 2).

``t * T + k`` with 0 <= k < T, where t and k are summed over (the tiles of a matrix product), or written over (block and
thread, the few elements of a coarsened thread): the domain is that of the number itself. The digit may begin above zero
(tiles that overlap by their rims: ``14 * block + thread`` with 1 <= thread < 15). The same for ``block *
blockDim + thread`` where both are axes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kraise.analysis.boxes import box, floor_of
from kraise.analysis.conditions import Fact, classify, conjunction, conjuncts, fact_to_expr, is_static, negate
from kraise.analysis.dependence import implied
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.operations import ASSOCIATIVE
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute, topological, transform
from kraise.raising.carried import relative_sums
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import operation
from kraise.raising.run.state import RawWrite
from kraise.raising.threads.arg_tiles import one_place
from kraise.raising.threads.in_ones import in_ones
from kraise.raising.threads.seeds import started
from kraise.raising.writes.decided import decided
from kraise.raising.writes.masks import bounds, not_neutral, scaled_inside, spread
from kraise.raising.writes.narrowed import by_chunks, by_parts, by_residues, narrowed, strongest, without_implied

Path = tuple[eq.Expr, ...]


@dataclass(frozen=True)
class Domain:
    """Indices under conjuncts, and what is computed over them."""

    names: tuple[str, ...]
    path: Path
    values: tuple[eq.Expr, ...]
    facts: Path = ()


@dataclass(frozen=True)
class Launch:
    """What the launch implies of the indices without being part of a domain, the source's names for sums of indices,
    and the indices that are a thread's or a block's."""

    facts: Path = ()
    names: tuple[tuple[Poly, str], ...] = ()
    hardware: frozenset[str] = frozenset()


def merged(domain: Domain, launch: Launch) -> Domain:
    """``domain`` with every pair of digits merged."""
    pairs = [(q, d) for q in domain.names for d in domain.names if q != d]
    for wide in (False, True):
        for q, d in pairs:
            for size in _sizes(domain, q, d, wide):
                try:
                    new = _merge(domain, q, d, size, launch)
                except Unmovable:  # a running value exists along the digit only
                    continue
                if new is not None:
                    return merged(new, launch)
    return domain


def _sizes(domain: Domain, q: str, d: str, wide: bool) -> list[Poly]:
    """The sizes c with which ``c * q + d`` occurs; of ``wide`` cells ``3 * (c * q + d)``."""
    big, small = eq.Index(q, INT), eq.Index(d, INT)
    out: dict[Poly, None] = {}
    for n in topological((*domain.values, *domain.path)):
        if isinstance(n, eq.Op) and n.type.is_integer and n.name in ("add", "sub", "mul"):
            poly = to_poly(n)
            if big in poly.atoms() and small in poly.atoms() and poly.is_affine_in((q, d)):
                c, each = poly.coefficient(big), poly.coefficient(small).value or 0
                if wide:
                    c = Poly({m: n // each for m, n in c.terms.items() if each > 1 and n % each == 0})
                if (wide or each == 1) and c.terms and is_static(c) and (c.value is None or c.value > 1):
                    out[c] = None
    return list(out)


def _merge(domain: Domain, q: str, d: str, size: Poly, launch: Launch) -> Domain | None:
    """One index ``size * q + d`` in place of both, or None if they occur otherwise or d may leave 0 … size - 1."""
    big, small = eq.Index(q, INT), eq.Index(d, INT)
    names = frozenset(domain.names).union(*(free_indices(e) for e in (*domain.values, *domain.path)))
    name, further = _name(size * to_poly(big), d, names, launch)
    whole = eq.Index(name, INT)
    inside = to_expr(to_poly(whole) - size * to_poly(big) - further)

    def fn(e: eq.Expr) -> eq.Expr:
        from kraise.raising.run.arithmetic import tidy

        return tidy(substitute(e, {small: inside}))

    known = {_by_blocks_fact(c) for c in (*domain.path, *domain.facts)}
    first = _first(small, known)
    lower = Fact("ge", to_poly(small) - first)
    upper = Fact("ge", _by_blocks(size - to_poly(small) - 1) + first)
    if lower not in known or upper not in known:
        return None
    within, begin = (fact_to_expr(lower), fact_to_expr(upper)), first + further
    path: list[eq.Expr] = []
    facts = [c for c in domain.facts if not free_indices(c) & {q, d}]
    for c in domain.facts:
        fact = classify(c)
        if free_indices(c) == {q} and fact is not None and fact.kind == "ge" and fact.poly.coefficient(big).value == -1:
            count = fact.poly.without(big) + 1
            facts.append(eq.Op("lt", (whole, to_expr(count * size + begin)), BOOL))
    for c in domain.path:
        mine = free_indices(c) & {q, d}
        if mine == {d}:
            if _by_blocks_fact(c) in (lower, upper) or (first and implied(within, c)):
                continue
            if not implied([o for o in domain.path if o is not c], c):
                return None
        elif mine == {q}:
            fact = classify(c)
            times = None if fact is None else fact.poly.coefficient(big).value
            rows = size.value or 0
            whole_rows = bool(rows) and times in (rows, -rows)  # size * q >= -rest or <= rest
            if fact is None or fact.kind != "ge" or (times not in (1, -1) and not whole_rows):
                return None
            rest = fact.poly.without(big)
            if rest.indices():
                return None
            if whole_rows and times not in (1, -1):
                by, below = floor_of(rest, rows), times == -rows
                edge = (by + 1) * size if below else -by * size  # as q < rest // size + 1, or q >= -(rest // size)
                path.append(eq.Op("lt" if below else "ge", (whole, to_expr(edge + begin)), BOOL))
            elif times == 1:  # q >= -rest
                start = to_expr(size * -rest + begin)
                path.append(eq.Op("ge", (whole, start), BOOL))
            else:  # q < rest + 1
                end = to_expr((rest + 1) * size + begin) if begin else _product(rest + 1, size)
                path.append(eq.Op("lt", (whole, end), BOOL))
        else:
            path += map(_without_both, conjuncts(fn(c))) if mine else (c,)
    try:
        values = tuple(fn(v) for v in domain.values)
    except ValueError:
        return None  # a result of a fold is kept along d
    left = frozenset().union(*(free_indices(e) for e in (*path, *values)))
    if {q, d} & left - {name}:
        return None
    order = tuple(name if n == q else n for n in domain.names if n != d)
    return Domain(order, tuple(dict.fromkeys(path)), values, tuple(facts))


def _without_both(c: eq.Expr) -> eq.Expr:
    """``w - 128 * q < n - 128 * q`` as ``w < n``."""
    fact = classify(c)
    return fact_to_expr(fact) if fact is not None and fact.poly.indices() < free_indices(c) else c


def _first(digit: eq.Index, known: Iterable[Fact | None]) -> int:
    """The smallest value of a digit that begins with a number above zero (the threads of a tile but its rim)."""
    polys = [f.poly for f in known if f is not None and f.kind == "ge" and f.poly.atoms() == {digit}]
    return max((-p.offset for p in polys if p.coefficient(digit).value == 1), default=0)


def _by_blocks(poly: Poly) -> Poly:
    """``poly`` with the number of threads along an axis as blocks times threads of a block."""
    out = Poly()
    for m, c in poly.terms.items():
        part = Poly({(): c})
        for atom in m:
            if isinstance(atom, eq.Param) and atom.name.startswith("threads."):
                axis = atom.name.removeprefix("threads.")
                grid, block = eq.Param(f"grid.{axis}", atom.type), eq.Param(f"block.{axis}", atom.type)
                part = part * to_poly(grid) * to_poly(block)
            else:
                part = part * Poly({(atom,): 1})
        out = out + part
    return out


def _by_blocks_fact(condition: eq.Expr) -> Fact | None:
    fact = classify(condition)
    return None if fact is None else Fact(fact.kind, _by_blocks(fact.poly))


def _name(above: Poly, d: str, taken: frozenset[str], launch: Launch) -> tuple[str, int]:
    """The source's name for the number, or for one with the same digit above, or for one so much further on; else that
    of the lower digit."""
    number = above + to_poly(eq.Index(d, INT))
    exact = dict(launch.names).get(number)
    like = [
        n for p, n in launch.names if len((p - above).terms) == 1 and (p - above).indices() and (p - above).offset == 0
    ]
    name = next((n for n in (exact, *like) if n is not None and n not in taken), None)
    shifted = [(n, by) for p, n in launch.names if (by := (p - number).value) is not None and n not in taken]
    return (name, 0) if name is not None else next(iter(shifted), (d, 0))


def _product(count: Poly, size: Poly) -> eq.Expr:
    """The number of elements; ``grid * block`` is the number of threads."""
    a, b = to_expr(count), to_expr(size)
    launch = isinstance(a, eq.Param) and isinstance(b, eq.Param) and a.name.startswith("grid.")
    if launch and b.name == a.name.replace("grid", "block"):  # type: ignore[union-attr]
        return eq.Param(a.name.replace("grid", "threads"), INT)  # type: ignore[union-attr]
    return to_expr(count * size)


def merged_write(r: RawWrite, launch: Launch) -> RawWrite:
    """A write over merged indices. A reduction that is accumulated over more indices is one over all of them first."""
    scaled = scaled_inside(r)
    inside = spread(scaled)
    found = _merged_write(inside, launch)
    return found if scaled is r or len(found.loops) < len(inside.loops) else r


def _merged_write(r: RawWrite, launch: Launch) -> RawWrite:
    values = (*r.subscripts, r.value)
    low = {f.poly: c for c in (*r.path, *launch.facts) if (f := classify(c)) is not None and f.kind == "ge"}
    path = strongest(r.path, [n for n in r.loops if to_poly(eq.Index(n, INT)) in low])
    found = merged(Domain(r.loops, path, values, launch.facts), launch)
    if path != r.path and found.names == r.loops:
        found = merged(Domain(r.loops, r.path, values, launch.facts), launch)
    if (ones := in_ones(found.names, found.path, found.values, launch.facts)) is not None:
        other = merged(Domain(found.names, *ones, launch.facts), launch)
        found = other if len(other.names) < len(found.names) else found
    if found.names == r.loops:
        return r
    *subs, value = found.values
    path = without_ceilings(found.path)
    return replace(r, loops=found.names, path=path, subscripts=tuple(subs), value=value)


# --- reductions ------------------------------------------------------------------------------


def merged_reductions(e: eq.Expr, path: Path, memo: dict[eq.Expr, eq.Expr] | None = None) -> eq.Expr:
    """``e`` with the reductions in it over merged indices, the zeros of padded tiles as their domain; ``memo`` may be
    kept between calls with the same path."""

    def whole(node: eq.Reduce) -> eq.Reduce:
        return narrowed(_digits(_lean(_flat(node))))

    def one(node: eq.Expr) -> eq.Expr:
        if not isinstance(node, eq.Reduce) or node.op not in ASSOCIATIVE:
            return node
        if (place := one_place(node, whole)) is not None:
            return place
        node = _flat(relative_sums.in_one(node))
        if (parts := by_parts(node, one)) is not None:
            return parts
        if (found := started(node)) is not None:
            return eq.Op(node.op, (found[0], one(found[1])), node.type)
        if len(node.axes) > 1:
            node = _unpadded(node, path)
        masked = not_neutral(node.op, node.body)
        if masked is not None and node.op in ("add", "min", "max"):
            where = conjunction([c for c in (node.where, *conjuncts(masked[0])) if c is not None])
            node = eq.Reduce(node.op, node.axes, masked[1], where, node.type)
        return narrowed(_digits(_lean(node)))

    return transform(e, one, memo)


def _lean(node: eq.Reduce) -> eq.Reduce:
    return by_chunks(by_residues(without_implied(node)))


def _flat(node: eq.Reduce) -> eq.Reduce:
    """A reduction of a reduction by the same operator is one."""
    while isinstance(node.body, eq.Reduce) and node.body.op == node.op:
        inner = node.body
        own = {a.name for a in node.axes}
        if any(a.name in own for a in inner.axes) or any(
            free_indices(b) & own for a in inner.axes for b in (a.lo, a.hi)
        ):
            break
        where = conjunction([c for c in (node.where, inner.where) if c is not None])
        node = eq.Reduce(node.op, (*node.axes, *inner.axes), inner.body, where, node.type)
    return node


def _digits(node: eq.Reduce) -> eq.Reduce:
    if len(node.axes) < 2:
        return node
    given, node = node, _unit_steps(node)
    if any(a.step != 1 for a in node.axes):
        return given
    names = tuple(a.name for a in node.axes)
    where = () if node.where is None else conjuncts(node.where)
    each = tuple(part for c in bounds(node.axes) for part in _each_bound(c))
    found = merged(Domain(names, tuple(dict.fromkeys((*each, *where))), (node.body,)), Launch())
    if found.names == names:
        return given
    path = without_ceilings(found.path)
    ranges = box(found.names, path)
    return eq.Reduce(node.op, ranges.axes, decided(found.values[0], path), conjunction(ranges.residue), node.type)


def _each_bound(c: eq.Expr) -> Path:
    """``i < min(a, b)`` as ``i < a`` and ``i < b``."""
    match c:
        case eq.Op(name="lt", args=(i, eq.Op(name="min", args=ends))):
            return tuple(x for e in ends for x in _each_bound(eq.Op("lt", (i, e), BOOL)))
    return (c,)


def _unit_steps(node: eq.Reduce) -> eq.Reduce:
    """``range(0, n, 16)`` counted in ones."""
    for a in node.axes:
        if a.step > 1 and to_poly(a.lo).value == 0:
            i, size = eq.Index(a.name, INT), eq.Const(a.step, INT)
            last = to_expr(to_poly(a.hi) + (a.step - 1))
            axis = eq.Axis(a.name, a.lo, operation("floordiv", (last, size), INT))
            moved: dict[eq.Expr, eq.Expr] = {i: eq.Op("mul", (size, i), INT)}
            where = None if node.where is None else substitute(node.where, moved)
            axes = tuple(axis if x is a else x for x in node.axes)
            node = eq.Reduce(node.op, axes, substitute(node.body, moved), where, node.type)
    return node


def without_ceilings(path: Path) -> Path:
    """``k < T * ((K + T - 1) // T)`` says nothing where ``k < K``: the last tile is cut off."""
    out = []
    for c in path:
        fact = classify(c)
        if fact is not None and fact.kind == "ge" and any(_cut(fact, classify(o)) for o in path if o is not c):
            continue
        out.append(c)
    return tuple(out)


def _cut(weak: Fact, strong: Fact | None) -> bool:
    """Whether ``weak`` is an upper bound by a rounded size that ``strong`` implies."""
    if strong is None or strong.kind != "ge":
        return False
    for m, c in weak.poly.terms.items():
        for a in m:
            if not (isinstance(a, eq.Op) and a.name in ("floordiv", "tdiv") and c > 0):
                continue
            # c * rest * (x // size) > x - size where c * rest is the size
            rest = list(m)
            rest.remove(a)
            factor, x, size = Poly({tuple(rest): c}), to_poly(a.args[0]), to_poly(a.args[1])
            if factor != size:
                continue
            least = weak.poly - Poly({m: c}) + x - size + 1
            gap = least - strong.poly
            if gap.value is not None and gap.value >= 0:
                return True
    return False


# --- the zeros around a tile -----------------------------------------------------------------


def _unpadded(node: eq.Reduce, path: Path) -> eq.Reduce:
    """A sum of a product one factor of which is zero outside a range of the summed indices is a sum over that range."""
    if node.op != "add":
        return node
    axes = {a.name for a in node.axes}
    inside = (*path, *bounds(node.axes))
    pulled: dict[eq.Expr, None] = {}

    def masks(e: eq.Expr) -> eq.Expr:
        """``e`` without the conditions under which it is zero; those go to ``pulled``."""
        match e:
            case eq.Op(name="mul", args=(a, b), type=t):
                return eq.Op("mul", (masks(a), masks(b)), t)
            case eq.Op(name="neg", args=(a,), type=t):
                return eq.Op("neg", (masks(a),), t)
            case eq.Op(name="select", args=(c, a, b)):
                for kept, condition, zero in ((a, c, b), (b, negate(c), a)):
                    if isinstance(zero, eq.Const) and zero.value == 0:
                        left = []
                        for part in conjuncts(condition):
                            fact = classify(part)
                            names = free_indices(part)
                            if fact is not None and names & axes and names <= axes:
                                pulled[part] = None
                            elif not implied(inside, part):
                                left.append(part)
                        rest = conjunction(left)
                        return masks(kept) if rest is None else simplify.select(rest, kept, zero, e.type)
        return e

    body = masks(node.body)
    if body is node.body:
        return node
    where = conjunction([c for c in (node.where, *pulled) if c is not None])
    return eq.Reduce(node.op, node.axes, body, where, node.type)


__all__ = ["Launch", "bounds", "merged", "merged_reductions", "merged_write", "spread", "without_ceilings"]
