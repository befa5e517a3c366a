"""Cells that only a part of the threads has stored to: where what is loaded from them is used, the rest must be there.

``if (i < n) s[t] = x[i];`` without an else, and then a tree over all of ``s``: of a last block that has only begun, the
tree adds what nobody has stored. The source is not defined on such launches. What a load finds is marked with the
condition under which it is there; where a value is used that may not be, and that depends on the thread, whole blocks
are wished for (raising.md, step 6), or the load is refused if no launch has it.

A load that is not used (``v = s[t]; if (i < n) y[i] = v;``) asks for nothing, and what data decide is not asked.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from kraise.analysis.certain import sure
from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.analysis.dependence import implied, impossible
from kraise.analysis.leaving import always
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import Unmovable, children, free_indices, substitute, topological, transform
from kraise.raising.memory.whole_blocks import uniform
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawNew, RawWrite, State, expressions, flat, map_access, map_raw
from kraise.raising.writes.masks import bounds

Path = tuple[eq.Expr, ...]
_MARK = "filled"  # Op(filled, (condition, value, array)): the value, which is there where the condition holds
_ZERO = eq.Const(0, INT)
_MOST = 2_000  # questions of one function


def marked(array: str, conditions: Iterable[eq.Expr], value: eq.Expr) -> eq.Expr:
    """What a load of ``array`` finds, which was stored only where all of the conditions hold."""
    conditions = tuple(tidy(c) for c in conditions if not _of_data(c))
    if not conditions or not any(isinstance(n, eq.Read) for n in topological((value,))):
        return value
    if _is_mark(value):
        conditions, value = (*conditions, *conjuncts(value.args[0])), value.args[1]  # type: ignore[union-attr]
    both = conjunction(tuple(dict.fromkeys(conditions)))
    return eq.Op(_MARK, (both, value, eq.Param(array, value.type)), value.type)  # type: ignore[arg-type]


def _is_mark(e: eq.Expr) -> bool:
    return isinstance(e, eq.Op) and e.name == _MARK


def _plain(e: eq.Expr) -> eq.Expr:
    """The expression without marks."""
    return transform(e, lambda n: n.args[1] if _is_mark(n) else n)  # type: ignore[union-attr]


def _of_data(condition: eq.Expr) -> bool:
    kinds = (eq.Read, eq.CarryIn, eq.FoldResult, eq.HelperCall)
    return any(isinstance(n, kinds) for n in topological((condition,)))


def settle(cx: Context, st: State) -> None:
    """Takes the marks away, and wishes for whole blocks where what they say is in doubt."""
    if not cx.made:
        return
    raws = flat(st.out)
    made = {r.stmt.version.array for r in raws if isinstance(r, RawNew) and r.stmt.fill is None}
    made &= {n for n, local in st.locals.items() if local.shared}
    held = [e for r in raws for e in expressions(r)]  # in conditions, too
    marks = any(map(_is_mark, topological((*held, *st.env.values()))))
    if not made and not marks:
        return
    _Use(cx, frozenset(made), {r.after: r for r in raws if isinstance(r, RawWrite)}).check(st.out)
    st.out = [map_raw(r, _plain) for r in st.out]
    st.accesses = [map_access(a, _plain) for a in st.accesses]
    st.env = {n: _plain(e) for n, e in st.env.items()}
    st.names = {(e := _plain(n.expr)): replace(n, expr=e) for n in st.names.values()}


@dataclass
class _Use:
    """What the stores to the arguments use, from the last one back."""

    cx: Context
    made: frozenset[str]  # arrays in which a cell may be that nobody has stored to
    stores: dict[eq.Version, RawWrite]
    asked: set[object] = field(default_factory=set)
    results: dict[str, tuple[eq.Expr, ...]] = field(default_factory=dict)  # the guards of all uses of a fold's result

    def check(self, raws: Iterable[Raw]) -> None:
        for r in reversed(tuple(raws)):
            match r:
                case RawWrite(before=eq.Version(array=array)) if array not in self.cx.made:
                    self.value(r.value, r.path)
                case RawFold(fold, body):
                    for s in fold.scalars:
                        guards = self.results.get(f"{fold.name}.{s.name}")
                        if guards is not None:
                            self.value(s.update, guards)
                            self.value(s.init, guards)
                    self.check(body)

    def value(self, e: eq.Expr, guards: Path) -> None:
        """Asks for what ``e`` is made of, where the guards hold."""
        if (e, guards) in self.asked or len(self.asked) > _MOST:
            return
        self.asked.add((e, guards))
        match e:
            case eq.Op(name=name, args=(condition, inner, eq.Param(name=array))) if name == _MARK:
                self.there(array, guards, condition)
                self.value(inner, (*guards, *conjuncts(condition)))
            case eq.Op(name="select", args=(c, a, b)):
                self.value(c, guards)
                if not _of_data(c):
                    self.value(a, (*guards, *conjuncts(c)))
                    self.value(b, (*guards, *conjuncts(negate(c))))
            case eq.Op(name="and" | "or", args=(a, _)):
                self.value(a, guards)
            case eq.Reduce(axes=axes, body=body, where=where):
                kept = () if where is None else conjuncts(where)
                if not any(map(_of_data, kept)):
                    self.value(body, (*guards, *bounds(axes), *kept))
            case eq.Scan(axis=axis, body=body):  # its index stays free: what was passed before it is not asked about
                self.value(body, (*guards, *bounds((axis,))))
            case eq.Read(version=version, subscripts=subs, view=()) if version.array in self.made:
                self.cell(version, subs, guards, ())
            case eq.FoldResult(fold=fold, name=name):
                key = f"{fold}.{name}"
                seen = self.results.get(key)
                self.results[key] = guards if seen is None else tuple(c for c in seen if c in guards)
            case eq.Op() | eq.Cast():
                for child in children(e):
                    self.value(child, guards)

    def cell(self, version: eq.Version, subs: Path, guards: Path, missed: Path) -> None:
        """Asks for the cell that a load finds in ``version``: ``missed`` are the stores that may have filled it, each
        where so much holds."""
        if impossible((*guards, *self.cx.facts)):
            return
        store = self.stores.get(version)
        if store is None:
            if version.array in self.made and version.number <= 1:
                self.nothing(version.array, guards, missed)
            return
        found = filling(self.cx, store, subs, guards)
        if found is None:
            if store.accumulate and not store.view:  # a count where data say: what it is added to must be there, too
                self.cell(store.before, subs, guards, missed)
            return
        mapping, left = found
        inside = (*guards, *left)
        if not impossible((*inside, *self.cx.facts)):
            try:
                self.value(tidy(substitute(store.value, mapping)), inside)
            except Unmovable:
                self.scanned(store.value, mapping, inside)
                return
            if store.accumulate:
                self.cell(store.before, subs, inside, missed)
        if left:
            both = conjunction(left)
            assert both is not None
            self.cell(store.before, subs, (*guards, negate(both)), (*missed, both))
        elif impossible((*inside, *self.cx.facts)):
            self.cell(store.before, subs, guards, missed)

    def scanned(self, scan: eq.Expr, mapping: dict[eq.Expr, eq.Expr], guards: Path) -> None:
        """Asks for what a running value is made of, where it is asked at another index than its own."""
        if not isinstance(scan, eq.Scan):
            return
        own = eq.Index(scan.axis.name, INT)
        at = mapping.get(own)
        if at is None or any(own.name in free_indices(g) for g in guards):
            return
        passed = eq.Op("ge" if scan.reverse else "le", (own, at), BOOL)
        try:
            body = substitute(scan.body, {i: e for i, e in mapping.items() if i is not own})
        except Unmovable:
            return
        self.value(tidy(body), (*guards, *bounds((scan.axis,)), passed))

    def nothing(self, array: str, guards: Path, missed: Path) -> None:
        if missed:
            others = {negate(c) for c in missed}
            self.there(array, tuple(g for g in guards if g not in others), simplify.disjunction(*missed))

    def there(self, array: str, guards: Path, condition: eq.Expr) -> None:
        """Asks that ``condition`` holds where the guards do."""
        cx = self.cx
        known = (*guards, *cx.facts)
        if any(map(_of_data, guards)):
            return
        left = [c for c in conjuncts(condition) if not (c in guards or implied(known, c))]
        if not left:
            return
        inside = {t for t in cx.thread_names if t not in cx.blocks}
        moving = inside | {n for c in guards for n in free_indices(c) - {*cx.thread_names}}
        for c in left:
            never = isinstance(c, eq.Const) and not c.value
            missing = () if never else (negate(c),)
            if not (never or free_indices(c) & moving) or not sure((*known, *missing)):
                continue
            if always(guards, missing, cx.facts, cx.thread_names):
                cx.undefined.setdefault(array, None)
            else:
                uniform(cx, c, moving)


def filling(
    cx: Context, store: RawWrite, subs: Path, guards: Path
) -> tuple[dict[eq.Expr, eq.Expr], tuple[eq.Expr, ...]] | None:
    """The instance of a store that fills a cell, and the conditions under which there is one that the guards do not
    imply; None where that is not plain, or data decide it."""
    found = _instance(store, subs)
    if found is None or any(map(_of_data, found[1])):
        return None
    mapping, conditions = found
    return mapping, tuple(c for c in conditions if c not in guards and not implied((*guards, *cx.facts), c))


def _instance(store: RawWrite, subs: Path) -> tuple[dict[eq.Expr, eq.Expr], Path] | None:
    """The instance of a store that fills a cell, and where there is one; None where that is not plain."""
    if store.view or len(store.subscripts) != len(subs):
        return None
    mapping: dict[eq.Expr, eq.Expr] = {}
    more: list[eq.Expr] = []
    pairs, by_digits = _numbers(tuple(zip(store.subscripts, subs, strict=True)))
    mapping |= {i: tidy(e) for i, e in by_digits.items()}
    for _, e, radix in pairs:
        if radix is not None and radix is not _ZERO:
            more += [eq.Op("ge", (e, _ZERO), BOOL), eq.Op("lt", (e, radix), BOOL)]
    both = sorted((p[:2] for p in pairs if p[2] is None), key=lambda pair: not isinstance(pair[0], eq.Index))
    for own, asked in both:
        if isinstance(own, eq.Index) and own not in mapping:
            mapping[own] = tidy(asked)
        elif not free_indices(own):
            more.append(eq.Op("eq", (asked, own), BOOL))
        elif (one := _solved(own, asked, mapping)) is not None:
            mapping |= one
        else:
            return None
    if set(store.loops) - {n for i in mapping for n in free_indices(i)}:
        return None
    try:
        path = (*map(tidy, more), *(tidy(substitute(c, mapping)) for c in store.path))
        return mapping, tuple(p for c in path for p in conjuncts(c))
    except Unmovable:
        return None


Pair = tuple[eq.Expr, eq.Expr, eq.Expr | None]


def _numbers(pairs: tuple[tuple[eq.Expr, eq.Expr], ...]) -> tuple[list[Pair], dict[eq.Expr, eq.Expr]]:
    """The indices of which a store has all digits as its subscripts (``s[b / 64][b % 64]``), by those that are asked;
    and the subscripts, those that are digits with their radix (zero for the first, which has none)."""
    digits: dict[eq.Expr, dict[int, tuple[int, int]]] = {}  # by index and weight: the radix, and where it stands
    for at, (own, _) in enumerate(pairs):
        if (digit := _digit(own)) is not None:
            digits.setdefault(digit[0], {})[digit[1]] = (digit[2], at)
    found: dict[eq.Expr, eq.Expr] = {}
    radices: dict[int, eq.Expr] = {}
    for index, own_digits in digits.items():
        weight, total = 1, to_poly(_ZERO)
        for w, (radix, at) in sorted(own_digits.items()):
            if w != weight:
                break
            total, weight = total + to_poly(pairs[at][1]) * w, w * radix
        if len(own_digits) > 1 and not weight:  # the chain ends with a quotient
            found[index] = to_expr(total)
            radices |= {at: eq.Const(radix, INT) for radix, at in own_digits.values()}
    return [(own, asked, radices.get(at)) for at, (own, asked) in enumerate(pairs)], found


def _digit(e: eq.Expr) -> tuple[eq.Index, int, int] | None:
    """Of an index its digit with a weight and a radix, which is 0 for a quotient: of all that is above."""
    radix = 0
    match e:
        case eq.Op(name="mod", args=(inner, eq.Const(value=int() as radix))):
            e = inner
    match e:
        case eq.Index() if radix > 0:
            return e, 1, radix
        case eq.Op(name="floordiv", args=(eq.Index() as index, eq.Const(value=int() as weight))) if weight > 0:
            return index, weight, radix
    return None


def _solved(own: eq.Expr, asked: eq.Expr, mapping: dict[eq.Expr, eq.Expr]) -> dict[eq.Expr, eq.Expr] | None:
    """The one index that is not known yet of ``own == asked``, in which it stands by itself: ``t - 64 * block``."""
    place = to_poly(own)
    unknown = [a for a in place.atoms() if isinstance(a, eq.Index) and a not in mapping]
    if len(unknown) != 1 or not place.is_affine_in(place.indices()):
        return None
    (index,) = unknown
    sign, rest = place.coefficient(index).value, place.without(index)
    if sign not in (1, -1):
        return None
    others = to_poly(tidy(substitute(to_expr(rest), mapping)))
    return {index: tidy(to_expr((to_poly(asked) - others) * sign))}


__all__ = ["filling", "marked", "settle"]
