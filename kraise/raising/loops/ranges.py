"""The ranges of counted loops."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.conditions import conjuncts, is_static, static_expr
from kraise.analysis.dependence import nonnegative
from kraise.analysis.division import divided
from kraise.analysis.poly import Poly, to_expr, to_poly, wraps
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import substitute
from kraise.raising.run.arithmetic import index_like, operation
from kraise.raising.run.context import Context
from kraise.raising.run.sizes import steering
from kraise.raising.run.state import State


@dataclass(frozen=True)
class Range:
    """The values of a loop's variable: from ``start`` in steps of ``step`` (a nonzero integer) to before ``stop``;
    ``within`` is what else is known of them; ``phase`` says of a start that depends on the lane what it is and which of
    the values are in steps from it."""

    index: eq.Index
    start: eq.Expr
    stop: eq.Expr
    step: int
    within: tuple[eq.Expr, ...] = ()
    phase: tuple[eq.Expr, ...] = ()

    def conjuncts(self) -> tuple[eq.Expr, ...]:
        j = self.index
        if self.step > 0:
            from_start = (_compared("ge", j, bound) for bound in _each(self.start, "max"))
            out: list[eq.Expr] = [*(self.phase or from_start)]
            out += [_compared("lt", j, bound) for bound in _each(self.stop, "min")]
        else:
            out = [_compared("le", j, bound) for bound in _each(self.start, "min")]
            out += [_compared("gt", j, bound) for bound in _each(self.stop, "max")]
        if abs(self.step) != 1 and not self.phase:
            gap = operation("sub", (j, self.start) if self.step > 0 else (self.start, j), INT)
            size = eq.Const(abs(self.step), INT)
            out.append(eq.Op("eq", (eq.Op("mod", (gap, size), INT), eq.Const(0, INT)), BOOL))
        return tuple(dict.fromkeys(c for part in (*out, *self.within) for c in conjuncts(part)))


def _compared(name: str, j: eq.Index, bound: eq.Expr) -> eq.Expr:
    """What a bound says of the index; beside an unsigned difference that may wrap round the index is unsigned, too."""
    if isinstance(bound, eq.Op) and bound.type.kind == "uint" and wraps(bound):
        return operation(name, (j, bound), BOOL)
    return eq.Op(name, (j, bound), BOOL)


def from_afar(s: k.For, start: eq.Expr, stop: eq.Expr) -> k.For | None:
    """A loop between numbers that no signed integer of the width holds (``for (unsigned k = 4294967000u; ...)``): over
    what is added to the first."""
    if not (isinstance(start, eq.Const) and isinstance(stop, eq.Const) and s.type and s.type.bits):
        return None
    first, last = start.value, stop.value
    if not (isinstance(first, int) and isinstance(last, int) and max(first, last) >= 1 << (s.type.bits - 1)):
        return None
    added = f"{s.var}_round"
    here = k.Op("add", (k.Const(first, s.type), k.Cast(s.type, k.Var(added, INT))), s.type)
    body = (k.Assign(s.var, here, s.type, span=s.span), *s.body)
    return replace(s, var=added, start=k.Const(0, INT), stop=k.Const(last - first, INT), type=INT, body=body)


def unit_steps(cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr) -> k.For:
    """A loop whose step is a size, or goes down by one: over the number of the round, with the variable computed. The
    size must be positive, which the emitted function checks."""
    down = isinstance(step, eq.Op) and step.name == "neg"
    step = step.args[0] if down else step  # type: ignore[union-attr]
    positive(cx, st, step)
    names = {f"${s.var}.{part}": v for part, v in (("start", start), ("stop", stop), ("step", step))}
    st.env |= names
    first, end, size = (k.Var(n, INT) for n in names)
    one = k.Const(1, INT)
    way = (first, end) if down else (end, first)
    gap = k.Op("sub", (k.Op("add", (k.Op("sub", way, INT), size), INT), one), INT)
    rounds: k.Expr = k.Op("floordiv", (gap, size), INT)
    length = to_poly(stop) - to_poly(start)
    if (whole := whole_rounds(-length if down else length, step)) is not None:
        st.env[f"${s.var}.rounds"], rounds = whole, k.Var(f"${s.var}.rounds", INT)
    count = f"{s.var}_round"
    value_now = k.Op("sub" if down else "add", (first, k.Op("mul", (size, k.Var(count, INT)), INT)), INT)
    body = (k.Assign(s.var, value_now, INT, span=s.span), *s.body)
    return replace(s, var=count, start=k.Const(0, INT), stop=rounds, step=one, body=body)


def whole_rounds(gap: Poly, step: eq.Expr) -> eq.Expr | None:
    """How many steps of a positive size fill a gap, if that is one number whatever the size: a gap of some steps, or of
    one element more."""
    rounds, rest = divided(gap, to_poly(step))
    more = rest.value if rest.terms else 0
    return None if more not in (0, 1) or to_poly(step).value is not None else to_expr(rounds + more)


def positive(cx: Context, st: State, step: eq.Expr) -> None:
    """The step of a loop, a size, is taken to be positive, which the emitted function checks."""
    above = eq.Op("ge", (step, eq.Const(1, INT)), BOOL)
    if above not in st.path:
        st.path = (*st.path, above)
        cx.checks.append((above, "the step of a loop must be positive"))


def in_multiples(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: eq.Expr, live: frozenset[str]
) -> k.For | None:
    """A loop whose step is an index or moves with a loop, and is positive (``range(p * p, n, p)`` of a sieve): over all
    numbers, those between the steps left out."""
    path = (*st.path, *st.facts, *cx.facts)
    numbers: dict[eq.Expr, eq.Expr] = {}
    if isinstance(step, eq.CarryIn) and step.type.kind == "int":  # `while i * i <= n: ...; i += 1`
        numbers = {step: eq.Param("$step", step.type)}
    path, by = tuple(substitute(p, numbers) for p in path), substitute(step, numbers)
    if s.orelse or s.var in live or not index_like(by) or not nonnegative(path, to_poly(by) - 1):
        return None
    names = {f"${s.var}.{part}": v for part, v in (("start", start), ("stop", stop), ("step", step))}
    st.env |= names
    first: k.Expr
    first, end, size = (k.Var(n, INT) for n in names)
    between = k.Op("mod", (k.Op("sub", (k.Var(s.var, INT), first), INT), size), INT)
    test: k.Expr = k.Op("eq", (between, k.Const(0, INT)), BOOL)
    first_one = to_poly(substitute(start, numbers)).terms
    if numbers or any(len(m) > 1 for m in first_one):  # p * p: no bound of a range
        if not all(c > 0 and all(nonnegative(path, to_poly(a)) for a in m) for m, c in first_one.items()):
            return None
        test = k.Op("and", (k.Op("ge", (k.Var(s.var, INT), first), BOOL), test), BOOL)
        first = k.Const(0, INT)
    taken = k.If(test, s.body, (), span=s.span)
    return replace(s, start=first, stop=end, step=k.Const(1, INT), body=(taken,))


def from_zero(
    cx: Context, st: State, s: k.For, start: eq.Expr, stop: eq.Expr, step: int, live: frozenset[str]
) -> k.For | None:
    """A loop over a row (``for j in range(i * n, i * n + n)``) or a window (``range(i - 2, i + 3)``) as one over its
    rounds: its start moves with indices and its length does not. Where several bounds are combined (``max(i - 2, 0)``
    to ``min(i + 3, n)``), the others become a guard. None for any other loop, and where the variable is read after
    it."""
    if not (index_like(start) and index_like(stop)) or s.var in live or s.orelse:
        return None
    first, last, guards = to_poly(start), to_poly(stop), list[tuple[str, eq.Expr]]()
    lows, highs = _parts(start, "max"), _parts(stop, "min")
    if step == 1 and len(lows) + len(highs) > 2:
        found = _window(lows, highs)
        if found is None:
            return None
        first, last, guards = found
    gap = last - first if step > 0 else first - last
    if not first.indices() or not is_static(gap):
        if len(lows) + len(highs) > 2 or is_static(gap):
            return None
        return _from_its_row(st, s, first, last) or _share(cx, st, s, first, last, step)
    size = abs(step)
    rounds = to_expr(gap)
    if size > 1:
        rounds = operation("floordiv", (to_expr(gap + (size - 1)), eq.Const(size, INT)), INT)
    names = {f"${s.var}.start": to_expr(first), f"${s.var}.rounds": rounds}
    bounds = {f"${s.var}.bound{n}": bound for n, (_, bound) in enumerate(guards)}
    st.env |= names | bounds
    base, stop_at = (k.Var(n, INT) for n in names)
    count = f"${s.var}"
    moved = k.Op("mul", (k.Const(step, INT), k.Var(count, INT)), INT)
    now = k.Op("add", (base, moved), INT)
    body: tuple[k.Stmt, ...] = s.body
    for name, (sign, _) in zip(bounds, guards, strict=True):
        body = (k.If(k.Op(sign, (k.Var(s.var, INT), k.Var(name, INT)), BOOL), body, (), span=s.span),)
    body = (k.Assign(s.var, now, s.type, span=s.span), *body)
    return replace(s, var=count, start=k.Const(0, INT), stop=stop_at, step=k.Const(1, INT), body=body)


def in_its_part(st: State, s: k.For, start: eq.Expr, stop: eq.Expr, live: frozenset[str]) -> k.For | None:
    """``for (i = block * m + t; i < min(block * m + m, n); i += threads)``, a block's part of all, as one from t to m:
    what both ends share moves no bound, and what else ends it is a guard. None for any other loop."""
    if not (index_like(start) and index_like(stop)) or s.var in live or s.orelse:
        return None
    first, highs = to_poly(start), _parts(stop, "min")
    for high in highs if len(highs) > 1 else ():
        row = {m: c for m, c in first.terms.items() if len(m) > 1 and high.terms.get(m) == c}
        shared = Poly({m: c for m, c in row.items() if Poly({m: c}).indices()})
        if not shared.terms or not is_static(high - shared) or (high - shared).indices():
            continue
        ends = [to_expr(h) for h in highs if h is not high]
        names = {f"${s.var}.{n}": to_expr(p) for n, p in (("row", shared), ("start", first - shared))}
        names |= {f"${s.var}.stop": to_expr(high - shared)}
        bounds = {f"${s.var}.bound{n}": e for n, e in enumerate(ends)}
        st.env |= names | bounds
        base, begin, end = (k.Var(n, INT) for n in names)
        count = f"${s.var}"
        body: tuple[k.Stmt, ...] = s.body
        for name in bounds:
            body = (k.If(k.Op("lt", (k.Var(s.var, INT), k.Var(name, INT)), BOOL), body, (), span=s.span),)
        now = k.Assign(s.var, k.Op("add", (base, k.Var(count, INT)), INT), s.type, span=s.span)
        return replace(s, var=count, start=begin, stop=end, body=(now, *body))
    return None


def _from_its_row(st: State, s: k.For, first: Poly, last: Poly) -> k.For | None:
    """``for (p = n * r + t; p < n * r + n; p += 16)`` as one from t to n: what both ends share moves no bound."""
    rows = {m: c for m, c in first.terms.items() if len(m) > 1 and last.terms.get(m) == c}
    shared = Poly({m: c for m, c in rows.items() if Poly({m: c}).indices()})
    if not shared.terms:
        return None
    names = {
        f"${s.var}.{n}": to_expr(p) for n, p in (("row", shared), ("start", first - shared), ("stop", last - shared))
    }
    st.env |= names
    row, start, stop = (k.Var(n, INT) for n in names)
    count = f"${s.var}"
    now = k.Assign(s.var, k.Op("add", (row, k.Var(count, INT)), INT), s.type, span=s.span)
    return replace(s, var=count, start=start, stop=stop, body=(now, *s.body))


def _share(cx: Context, st: State, s: k.For, first: Poly, last: Poly, step: int) -> k.For | None:
    """``range(i * n / m, ((i + 1) * n + m - 1) / m)``, the share of n that is the i-th of m, as a loop over the most
    elements that a share has, with a guard: ``b // m - a // m`` is ``(b - a) / m`` at most, rounded up."""
    ends = [
        next(iter(p.atoms()), None) if len(p.terms) == 1 and set(p.terms.values()) == {1} else None
        for p in (first, last)
    ]
    match ends:
        case [eq.Op(name=name, args=(a, by)), eq.Op(name=other, args=(b, same))] if by is same and step == 1:
            size, gap = to_poly(by), to_poly(b) - to_poly(a)
            if name != other or name not in ("floordiv", "tdiv") or not is_static(gap) or not static_expr(by):
                return None
            natural = _natural(cx, st, to_poly(b)) or _natural(cx, st, to_poly(b) - size + 1)
            if name == "tdiv" and not (natural and _natural(cx, st, to_poly(a))):
                return None  # C rounds what is negative up
        case _:
            return None
    most = operation("floordiv", (to_expr(gap + size - 1), to_expr(size)), INT)
    names = {f"${s.var}.{n}": e for n, e in (("start", to_expr(first)), ("rounds", most), ("stop", to_expr(last)))}
    st.env |= names
    start, rounds, stop = (k.Var(n, INT) for n in names)
    count = f"${s.var}"
    inside = k.If(k.Op("lt", (k.Var(s.var, INT), stop), BOOL), s.body, (), span=s.span)
    now = k.Assign(s.var, k.Op("add", (start, k.Var(count, INT)), INT), s.type, span=s.span)
    return replace(s, var=count, start=k.Const(0, INT), stop=rounds, step=k.Const(1, INT), body=(now, inside))


def _natural(cx: Context, st: State, p: Poly) -> bool:
    """Whether a sum of products of sizes and indices is not negative."""
    sizes = steering(cx)

    def atom(a: eq.Expr) -> bool:
        return (isinstance(a, eq.Param) and a.name in sizes) or nonnegative((*st.path, *st.facts), to_poly(a))

    return all(c > 0 and all(map(atom, m)) for m, c in p.terms.items())


def _window(lows: list[Poly], highs: list[Poly]) -> tuple[Poly, Poly, list[tuple[str, eq.Expr]]] | None:
    """The bounds that keep their distance while they move, and what is left of the others; the closest pair."""
    pairs = [
        (low, high)
        for low in lows
        for high in highs
        if any(isinstance(a, eq.Index) for m in low.terms for a in m) and is_static(high - low)
    ]
    if not pairs:
        return None
    known = [p for p in pairs if (p[1] - p[0]).value is not None]
    low, high = min(known, key=lambda p: (p[1] - p[0]).value or 0) if known else pairs[0]
    guards = [("ge", to_expr(other)) for other in lows if other is not low]
    return low, high, guards + [("lt", to_expr(other)) for other in highs if other is not high]


def _each(bound: eq.Expr, name: str) -> list[eq.Expr]:
    """All that a combined bound is made of; the bound as it is where it is not."""
    parts = _parts(bound, name) if index_like(bound) else []
    return [to_expr(p) for p in parts] if len(parts) > 1 else [bound]


def _parts(bound: eq.Expr, name: str) -> list[Poly]:
    """``a + c`` and ``b + c`` of ``max(a, b) + c``; the bound itself where it is no such thing."""
    whole = to_poly(bound)
    chosen = [a for a in whole.atoms() if isinstance(a, eq.Op) and a.name == name]
    if len(chosen) != 1 or whole.terms.get((chosen[0],)) != 1 or sum(chosen[0] in m for m in whole.terms) != 1:
        return [whole]
    rest = whole.without(chosen[0])
    return [p + rest for a in chosen[0].args for p in _parts(a, name)]
