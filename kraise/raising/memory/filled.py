"""Which instance of a store fills a given cell: subscripts solved for indices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kraise.analysis.conditions import Fact, classify, conjuncts
from kraise.analysis.dependence import implied, nonnegative
from kraise.analysis.flipped import bare
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.analysis.quotients import recombined
from kraise.analysis.ranks import counted
from kraise.ir import equations as eq
from kraise.ir.order import by_text
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, free_indices, substitute, transform
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.state import RawWrite, State

# --- who filled it ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Solved:
    """The instance of a store that fills a cell: its indices by name, what must hold for its thread to exist, and for
    it to store there."""

    mapping: dict[eq.Expr, eq.Expr]
    exists: tuple[eq.Expr, ...]
    conditions: tuple[eq.Expr, ...]
    unsolved: frozenset[str]
    never: bool = False
    exact: tuple[tuple[eq.Expr, Poly, int], ...] = ()  # quotients without a remainder: the quotient, of what, by what
    # digits were chosen: another thread may fill the cell where ``exists`` does not hold (if ``never``, too)
    chosen: bool = False
    parted: bool = False  # what a cell tells of a digit is one of its own digits

    def determines(self, names: tuple[str, ...]) -> bool:
        """Whether the cell tells every index in ``names``."""
        return not any(free_indices(self.mapping.get(i, i)) & self.unsolved for i in (eq.Index(n, INT) for n in names))

    def apply(self, e: eq.Expr) -> eq.Expr:
        from kraise.raising.run.arithmetic import tidy

        out = tidy(substitute(transform(e, self._totalled), self.mapping))
        out = transform(out, _put_together) if self.parted else out
        return transform(out, self._undivided) if self.exact else out

    def _totalled(self, e: eq.Expr) -> eq.Expr:
        """A running count that is asked for at its end, for all elements: how many of them are counted."""
        if not isinstance(e, eq.Scan) or e.op != "add" or e.other is not None or not e.inclusive or e.axis.step != 1:
            return e
        at = self.mapping.get(eq.Index(e.axis.name, INT))
        last = e.axis.lo if e.reverse else to_expr(to_poly(e.axis.hi) - 1)
        if at is None or to_poly(at) != to_poly(last) or not isinstance(e.init, eq.Const) or e.init.value != 0:
            return e
        return e if counted(e.body) is None else eq.Reduce("add", (e.axis,), e.body, None, e.type)

    def _undivided(self, e: eq.Expr) -> eq.Expr:
        """``2 * (c // 2)`` as ``c``: the conditions say that nothing is left over."""
        if not (isinstance(e, eq.Op) and e.name in ("add", "sub", "mul") and e.type.is_integer):
            return e
        poly = to_poly(e)
        for quotient, of, by in self.exact:
            times = poly.coefficient(quotient).value if quotient in poly.atoms() else None
            if times is not None and times % by == 0:
                poly = poly.without(quotient) + of * (times // by)
        return to_expr(poly, e.type) if poly != to_poly(e) else e


def _put_together(e: eq.Expr) -> eq.Expr:
    """``4 * (c // 4) + c % 4`` as ``c``."""
    plain = isinstance(e, eq.Op) and e.name in ("add", "sub") and e.type.is_integer
    return recombined(e) if plain else e


_PRIME = "'"


def solve(cx: Context, st: State, raw: RawWrite, subs: tuple[eq.Expr, ...], place: int) -> Solved | None:
    """The instance of ``raw`` (at ``place`` among the writes so far) that stores to cell ``subs``; None if there is
    no telling."""
    try:
        return _solve(cx, st, raw, subs, place)
    except Unmovable:  # what a loop carries exists along the thread's own index only
        return None


def _solve(cx: Context, st: State, raw: RawWrite, subs: tuple[eq.Expr, ...], place: int) -> Solved | None:
    from kraise.raising.run.arithmetic import tidy

    same = {n for n in raw.loops if n in st.open and n not in cx.thread_names and place >= st.entered.get(n, 1 << 30)}
    free = {n for n in (*raw.loops, *cx.blocks) if n not in same}
    primed: dict[eq.Expr, eq.Expr] = {eq.Index(n, INT): eq.Index(n + _PRIME, INT) for n in free}
    unknown = {n + _PRIME for n in free}
    found: dict[eq.Expr, eq.Expr] = {}
    conditions: list[eq.Expr] = []
    exact: list[tuple[eq.Expr, Poly, int]] = []

    def now(e: eq.Expr) -> Poly:
        return to_poly(tidy(substitute(substitute(e, primed), found)))

    if len(raw.subscripts) != len(subs):
        return None  # one is seen as rows, the other flat
    digits: dict[eq.Expr, eq.Expr] = {}
    given = list(zip(raw.subscripts, subs, strict=True))
    equations = [(s, to_poly(e)) for s, e in _joined(given, digits, conditions, raw.path)]
    places = len(equations)
    more = [f.poly for f in map(classify, raw.path) if f is not None and f.kind == "eq"]
    pending = dict(enumerate([*equations, *((to_expr(p), Poly()) for p in more)]))
    changed, chosen = True, False
    exists: list[eq.Expr] = []
    digits_of_one: set[str] = set()  # which of them fill the cell was chosen: beyond their ranges others do
    highest: set[str] = set()  # of these, what the others leave: the ranges of the others tell whether it is the one
    never = False
    while changed:
        changed = False
        for at, (s, e) in list(pending.items()):
            difference = now(s) - e
            hits = sorted(difference.indices() & unknown)
            if not hits:
                del pending[at]
                guess = chosen and at < places and _told_apart(cx, raw)  # perhaps other digits have the cell
                if difference.value is None:
                    left = eq.Op("eq", (to_expr(difference), eq.Const(0, INT)), BOOL)
                    (exists if guess else conditions).append(left)
                elif difference.value != 0 and guess:
                    return None
                never = never or difference.value not in (None, 0)
                continue
            unpacked = _unpacked(difference, hits, raw.path) if s in digits else None
            if unpacked is not None:
                changed = True
                found |= unpacked
                continue
            if (turned := _flipped(s, e, now, unknown)) is not None:
                changed = True
                pending[at] = turned
                continue
            step = _step(difference, hits)
            if step is not None:
                changed = True
                chosen = chosen or len(hits) > 1
                digits_of_one |= set(hits) if len(hits) > 1 else set()
                highest |= {step[0].name} if len(hits) > 1 else set()
                index, target, condition = step
                match target:
                    case eq.Op(name="floordiv", args=(of, eq.Const(value=int() as by))) if condition is not None:
                        exact.append((target, to_poly(of), by))
                found[index] = target
                conditions += [] if condition is None else [condition]
    if (sure := never and not chosen) or any(at < places for at in pending):
        return Solved({}, (), (), frozenset(), True) if sure else None
    for b in cx.blocks:
        if b not in raw.loops:  # not an index of its own: the same block
            found.setdefault(eq.Index(b + _PRIME, INT), eq.Index(b, INT))
    mapping = {i: tidy(substitute(p, found)) for i, p in primed.items()}
    mapping = digits | {i: v for i, v in mapping.items() if v is not i}
    parted = bool(digits)
    within, apart = set[eq.Expr](), set[eq.Expr]()  # where the digits are the only ones; what asks for none of them
    solved = Solved(mapping, (), (), frozenset(unknown), exact=tuple(exact), parted=parted)
    try:
        for c in raw.path:
            if c not in cx.launch_path:
                own = {n + _PRIME for n in free_indices(c)}
                moved_here = conjuncts(solved.apply(c))
                (exists if own and own <= digits_of_one else conditions).extend(moved_here)
                within |= {*moved_here} if own & digits_of_one and not own <= highest else set()
                apart |= set() if own & digits_of_one else {*moved_here}
            elif _radix(cx, c) & free and (not chosen or _told_apart(cx, raw)):
                (exists if chosen else conditions).extend(conjuncts(solved.apply(c)))
        for (kind, axis), thread in cx.threads.items():
            thread = cx.sharing.get(axis, thread)
            if kind == "thread" and free_indices(thread) & free:
                moved = solved.apply(thread)
                if moved is not thread:
                    own = {n + _PRIME for n in free_indices(thread)}
                    exists.append(eq.Op("ge", (moved, eq.Const(0, INT)), BOOL))
                    exists.append(eq.Op("lt", (moved, cx.threads["blockDim", axis]), BOOL))
                    within |= {*exists[-2:]} if own & digits_of_one and not own <= highest else set()
    except ValueError:
        return None
    kept: dict[str, list[eq.Expr]] = {"exists": [], "conditions": []}
    for kind, group in (("exists", exists), ("conditions", conditions)):
        for c in dict.fromkeys(group):
            fact = classify(c)
            if isinstance(c, eq.Const) or (fact is not None and fact.poly.value is not None):
                fails = not (c.value if isinstance(c, eq.Const) else _number_holds(fact))  # type: ignore[arg-type]
                if fails and (c in apart or not chosen):
                    return Solved({}, (), (), frozenset(), True)
                never = never or fails
            elif free_indices(c) & unknown:
                return None  # an instance that the cell does not tell
            else:
                kept[kind].append(c)
    if never:  # no thread with these digits stores: so none does, if no other digits make up the place
        one = tuple(c for c in (*kept["exists"], *kept["conditions"]) if c in within)
        return Solved({}, one, (), frozenset(), True, chosen=chosen)
    found_ = tuple(kept["exists"]), tuple(kept["conditions"])
    return Solved(mapping, *found_, frozenset(unknown), exact=tuple(exact), chosen=chosen, parted=parted)


def _radix(cx: Context, c: eq.Expr) -> set[str]:
    """The digits of a thread's number that a condition of the launch keeps within their radix: ``lane < 32``."""
    fact = classify(c)
    if fact is None or any(not isinstance(a, eq.Index) for a in fact.poly.atoms()):
        return set()
    numbers = [t for (kind, _), t in cx.threads.items() if kind == "thread"]
    return {n for t in numbers if not isinstance(t, eq.Index) for n in free_indices(t) & free_indices(c)}


def _told_apart(cx: Context, raw: RawWrite) -> bool:
    """Whether a store asks for the digits of its thread's number, not for the number alone: ``if (warp == 0)``."""
    from kraise.raising.run.arithmetic import tidy

    asked = [raw.value, *(c for c in raw.path if c not in cx.launch_path)]
    for (kind, _), thread in cx.threads.items():
        number = to_poly(thread)
        digits = [a for a in number.atoms() if isinstance(a, eq.Index) and a.name not in cx.blocks]
        last = next((a for a in digits if number.coefficient(a).value == 1), None)
        if kind != "thread" or len(digits) < 2 or last is None:
            continue
        by_number = {last: to_expr(to_poly(eq.Index(last.name + _PRIME, INT)) - number.without(last))}
        names = {a.name for a in digits}
        if any(names & free_indices(tidy(substitute(e, by_number))) for e in asked if last.name in free_indices(e)):
            return True
        if any(names & free_indices(e) for e in asked if last.name not in free_indices(e)):
            return True
    return False


def _joined(
    equations: list[tuple[eq.Expr, eq.Expr]],
    digits: dict[eq.Expr, eq.Expr],
    conditions: list[eq.Expr],
    path: tuple[eq.Expr, ...],
) -> list[tuple[eq.Expr, eq.Expr]]:
    """The equations with one for both digits of a number: ``k // 18 == a`` and ``k % 18 == b`` are ``k == 18 * a + b``
    if ``0 <= b < 18``, which joins the ``conditions``; ``digits`` gets what the store's own digits are."""
    for one, (high, a) in enumerate(equations):
        for two, (low, b) in enumerate(equations):
            number = _number(high, low)
            if number is None:
                continue
            size = low.args[1]  # type: ignore[union-attr]
            digits |= {high: a, low: b}
            conditions += [eq.Op("ge", (b, eq.Const(0, INT)), BOOL), eq.Op("lt", (b, size), BOOL)]
            rest = [e for at, e in enumerate(equations) if at not in (one, two)]
            whole = to_expr(to_poly(a) * to_poly(size) + to_poly(b))
            digits[number] = whole
            return _joined([*rest, (number, whole)], digits, conditions, path)
    for one, (high, a) in enumerate(equations):
        for two, (low, b) in enumerate(equations):
            if (parts := _parted(high, low, path)) is None:
                continue
            of, remainder, w, c, rest_of_it = parts
            size = w * c
            above = simplify.op("floordiv", (b, eq.Const(w, INT)), INT)
            digits |= {high: a, remainder: above}
            conditions += [eq.Op("ge", (b, eq.Const(0, INT)), BOOL), eq.Op("lt", (b, eq.Const(size, INT)), BOOL)]
            rest = [e for at, e in enumerate(equations) if at not in (one, two)]
            number = to_expr(to_poly(of) * w + rest_of_it)
            whole = to_expr(to_poly(a) * size + to_poly(b))
            digits[number] = whole
            return _joined([*rest, (number, whole)], digits, conditions, path)
    return equations


def _parted(high: eq.Expr, low: eq.Expr, path: tuple[eq.Expr, ...]) -> tuple[eq.Expr, eq.Expr, int, int, Poly] | None:
    """X, X % c, w, c and r of ``X // c`` and ``w * (X % c) + r`` with 0 <= r < w: the digits of ``w * X + r``."""
    match high:
        case eq.Op(name="floordiv", args=(x, eq.Const(value=int() as c))) if c > 1:
            poly = to_poly(low)
            for atom in poly.atoms():
                same = isinstance(atom, eq.Op) and atom.name == "mod" and atom.args[0] is x
                w = poly.coefficient(atom).value if same else None
                if w is None or w < 2 or atom.args[1] != high.args[1]:  # type: ignore[union-attr]
                    continue
                rest = poly.without(atom)
                if nonnegative(path, rest) and nonnegative(path, Poly({(): w - 1}) - rest):
                    return x, atom, w, c, rest
    return None


def _unpacked(difference: Poly, hits: list[str], path: tuple[eq.Expr, ...]) -> dict[eq.Expr, eq.Expr] | None:
    """The digits of a number, ``256 * k + 16 * ty + tx`` with ``tx`` below 16 and ``ty`` below 16, by division."""
    sizes = {n: difference.coefficient(eq.Index(n, INT)).value or 0 for n in hits}
    order = sorted(hits, key=lambda n: abs(sizes[n]), reverse=True)
    sign = 1 if sizes[order[-1]] == 1 else -1
    radices = [sizes[n] * sign for n in order]
    if radices[-1] != 1 or len(order) < 2 or not difference.is_affine_in(hits):
        return None
    rest = difference
    for n in hits:
        rest = rest.without(eq.Index(n, INT))
    left, zero = to_expr(rest * -sign), eq.Const(0, INT)
    found: dict[eq.Expr, eq.Expr] = {}
    for at, (n, size) in enumerate(zip(order, radices, strict=True)):
        above = radices[at - 1] if at else 0
        if at:
            own, count = eq.Index(n.removesuffix(_PRIME), INT), eq.Const(above // size, INT) if size > 0 else zero
            within = eq.Op("ge", (own, zero), BOOL), eq.Op("lt", (own, count), BOOL)
            if size <= 0 or above % size or not all(implied(path, c) for c in within):
                return None
        part = simplify.op("mod", (left, eq.Const(above, INT)), INT) if at else left
        found[eq.Index(n, INT)] = simplify.op("floordiv", (part, eq.Const(size, INT)), INT)
    return found


def _number(high: eq.Expr, low: eq.Expr) -> eq.Expr | None:
    """The number of which these are the digits."""
    match high, low:
        case (
            eq.Op(name="floordiv", args=(x, eq.Const(value=int() as c))),
            eq.Op(name="mod", args=(y, eq.Const(value=int() as d))),
        ) if c > 0 and d > 0:
            if x is y and c == d:
                return x
            match y:
                case eq.Op(name="floordiv", args=(z, eq.Const(value=int() as f))) if z is x and f > 0 and c == d * f:
                    return y  # k // 324 and k // 18 % 18
    return None


def _number_holds(fact: Fact) -> bool:
    value = fact.poly.value or 0
    return value >= 0 if fact.kind == "ge" else (value == 0) == (fact.kind == "eq")


def _step(difference: Poly, hits: list[str]) -> tuple[eq.Index, eq.Expr, eq.Expr | None] | None:
    """One index of ``hits`` from ``difference == 0``: the index, its value, what must hold besides."""
    if not hits or not difference.is_affine_in(hits):
        return None
    sizes = {n: difference.coefficient(eq.Index(n, INT)) for n in hits}
    rest = difference
    for n in hits:
        rest = rest.without(eq.Index(n, INT))
    if len(hits) == 1:
        (n,) = hits
        c = sizes[n].value
        if c in (1, -1):
            return eq.Index(n, INT), to_expr(rest * -c), None  # type: ignore[operator]
        if c is not None and c != 0:
            sign = 1 if c > 0 else -1
            size, gap = eq.Const(abs(c), INT), to_expr(rest * -sign)
            if all(t % abs(c) == 0 for t in rest.terms.values()):
                return eq.Index(n, INT), to_expr(Poly({m: t // abs(c) * -sign for m, t in rest.terms.items()})), None
            even = eq.Op("eq", (simplify.op("mod", (gap, size), INT), eq.Const(0, INT)), BOOL)
            return eq.Index(n, INT), simplify.op("floordiv", (gap, size), INT), even
        quotient, remainder = _divided(-rest, sizes[n])
        return None if remainder.terms else (eq.Index(n, INT), to_expr(quotient), None)
    # several digits: the one of the largest radix takes all that its radix divides; whether the others lie within
    # theirs is asked of the store's conditions
    order = sorted(hits, key=lambda n: (_degree(sizes[n]), abs(sizes[n].value or 0), n), reverse=True)
    first, second = sizes[order[0]], sizes[order[1]]
    if first == second:
        return None
    quotient, _ = _divided(-rest, first)
    return eq.Index(order[0], INT), to_expr(quotient), None


def _flipped(s: eq.Expr, e: Poly, now: Callable[[eq.Expr], Poly], unknown: set[str]) -> tuple[eq.Expr, Poly] | None:
    """``x ^ m == e`` as ``x == e ^ m``, where the mask is known and moves (tiles that are swizzled)."""
    whole = to_poly(s)
    for atom in whole.atoms():
        sign = whole.coefficient(atom).value
        if not isinstance(atom, eq.Op) or atom.name != "xor" or sign not in (1, -1):
            continue
        rest = now(to_expr(whole.without(atom)))
        for place, mask in (atom.args, atom.args[::-1]):
            known = now(bare(mask))
            if free_indices(place) and free_indices(mask) and not (known.indices() | rest.indices()) & unknown:
                target = (e - rest) * sign
                return bare(place), to_poly(simplify.op("xor", (to_expr(target), to_expr(known)), INT))
    return None


def _degree(p: Poly) -> int:
    return max((len(m) for m in p.terms), default=0)


def _divided(poly: Poly, by: Poly) -> tuple[Poly, Poly]:
    """Quotient and remainder, term by term."""
    lead = max(by.terms, key=lambda m: (len(m), by_text(m)))
    size = by.terms[lead]
    quotient, rest = Poly(), poly
    for m, c in sorted(poly.terms.items(), key=lambda t: (-len(t[0]), by_text(t[0]))):
        left = list(m)
        if c % size or any(left.count(a) < lead.count(a) for a in lead):
            continue
        for a in lead:
            left.remove(a)
        part = Poly({tuple(left): c // size})
        quotient, rest = quotient + part, rest - part * by
    return quotient, rest


__all__ = ["Solved", "solve"]
