"""Binary searches over a range that is known when the function is traced: no loop, but ``searchsorted``.

``while lo < hi: mid = (lo + hi) // 2; if a[mid] < v: lo = mid + 1 else: hi = mid`` leaves in ``lo`` the first k of
``lo … hi - 1`` with ``a[k] >= v``; so do the closed form (``lo <= hi``, ``hi = mid - 1``) and the open one
(``hi - lo > 1``, ``lo = mid``), and the one that keeps a start and a count (``while n > 0``, ``half = n // 2``), whose
end is their sum. The side conditions: a round stores nothing, moves one of the two ends to the middle
and decides that by one comparison of what stands there with what the search does not change; and the array is sorted,
as whoever searches in this way presumes (the docstring says so). A range that differs from lane to lane is a part of
an array that is not sorted as a whole: that loop stays, with as many rounds as the longest range has bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraise.analysis.boxes import Unbounded
from kraise.analysis.conditions import classify, is_static
from kraise.analysis.dependence import Access
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.operations import TURNED
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising import checked
from kraise.raising.loops.placeholders import placeholders
from kraise.raising.run import simplify
from kraise.raising.run.context import Context
from kraise.raising.run.liveness import exposed, reads
from kraise.raising.run.paths import add_path
from kraise.raising.run.state import State, map_access
from kraise.raising.run.values import truth

_FORMS = {-1: (1, 0), 0: (1, -1), -2: (0, 0)}  # by `hi - lo + c >= 0`: where the ends go, counted from the middle
NAN = ", with no NaN in it nor in what is looked up"
_OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}


def bisected(cx: Context, st: State, s: k.While, live: frozenset[str]) -> bool:
    """Puts the place that a binary search finds in the state; False, with nothing done, for any other loop."""
    if s.test_last or s.orelse or not _assigns(s.body) or not _halves(s.body):
        return False
    checks, wanted = list(cx.checks), dict(cx.wanted)
    try:
        done = _search(cx, st, s, live)
    except (Refused, Unbounded):
        done = False
    if not done:
        cx.checks[:], cx.wanted = checks, wanted
    return done


def _assigns(stmts: tuple[k.Stmt, ...]) -> bool:
    """Whether statements only assign locals: a search stores nothing and waits for nobody."""
    return all(
        isinstance(x, k.Assign) or (isinstance(x, k.If) and _assigns(x.body) and _assigns(x.orelse)) for x in stmts
    )


def _halves(stmts: tuple[k.Stmt, ...]) -> bool:
    """Whether a value that a body assigns is a half."""
    nodes: list[object] = [x.value for x in stmts if isinstance(x, k.Assign)]
    while nodes:
        match nodes.pop():
            case k.Op(name="floordiv" | "tdiv", args=(_, k.Const(value=2))) | k.Op(name="shr"):
                return True
            case k.Op(args=args):
                nodes.extend(args)
            case k.Cast(arg=a):
                nodes.append(a)
    return False


def _search(cx: Context, st: State, s: k.While, live: frozenset[str]) -> bool:
    from kraise.raising.run.statements import block

    inner = st.copy()
    inner.before, inner.out = [*st.before, *st.out], []
    index = cx.index("k", st.open)
    carries, inits = placeholders(cx, inner, s.body, index.name, extra=(), var="")
    inner.env |= carries
    condition = truth(cx, inner, s.condition)
    inner.path = add_path(inner.path, condition)
    first = len(inner.accesses)
    block(cx, inner, s.body, live | exposed(s.body, live) | reads(s.condition))
    if inner.out or any(a.write for a in inner.accesses[first:]):
        return False
    ends = _ends(condition, carries, inner.env) or _counted(condition, carries, inner.env)
    if ends is None or any(n in live for n in carries if n not in (ends.low, ends.high)):
        return False
    low, high, gap = ends.low, ends.high, ends.gap
    middle = _middle(ends, carries[low])
    if middle is None:
        return False
    there: dict[eq.Expr, eq.Expr] = {middle: index}
    found = _compared(substitute(ends.one[0], there), index.name)
    last = to_poly(inits[high]) + to_poly(inits[low]) if ends.counts else to_poly(inits[high])
    start, stop = to_poly(inits[low]) + (gap == -2), last + (gap == 0)
    if found is None or not (is_static(start) and is_static(stop)) or start.indices() or stop.indices():
        return False
    body, own = found, set(carries.values())
    axis = eq.Axis(index.name, to_expr(start), to_expr(stop))
    path = (*st.path, eq.Op("ge", (index, axis.lo), BOOL), eq.Op("lt", (index, axis.hi), BOOL))
    accesses = [_at(a, there, path, own) for a in inner.accesses[first:]]
    searched = {n.version: n.type for n in topological((body.args[0],)) if isinstance(n, eq.Read)}
    if own & set(topological((body,))) or None in accesses or any(v.number for v in searched):
        return False
    place: eq.Expr = eq.ArgReduce("bisect", axis, body, None, False, INT)
    before = to_expr(Poly({(place,): 1}) - 1)
    runs = simplify.op("le" if gap == 0 else "lt", (to_expr(start), to_expr(last)), BOOL)
    at_end = eq.Const(0, INT) if ends.counts else before if gap == 0 else place
    results = {low: before if gap == -2 else place, high: at_end}
    exact = {low} if gap != -2 else set()  # an empty range has its own start for its place
    st.accesses = [*st.accesses, *(a for a in accesses if a is not None)]
    st.order = inner.order
    for n, result in results.items():
        st.env[n] = result if n in exact else simplify.select(runs, result, inits[n], INT)
        if n in live:
            st.names.setdefault(place, eq.Name(place, n, s.span))
    whole = all(e.type.is_integer for e in body.args)
    for version in searched:
        text = f"{version.array} must be sorted" + ("" if whole else NAN)
        checked.rely_on_order(cx, version, searched[version], text)
    st.rung(s.span, "while", "rung 1: no loop, a binary search (searchsorted)")
    return True


@dataclass(frozen=True)
class _Ends:
    """The two ends of a search: the c of ``hi - lo + c >= 0``, when and whither each goes, and what the upper one is
    now. Where the search ``counts``, ``high`` names how many places there are."""

    low: str
    high: str
    gap: int
    one: tuple[eq.Expr, eq.Expr]
    two: tuple[eq.Expr, eq.Expr]
    end: Poly
    counts: bool = False


def _ends(condition: eq.Expr, carries: dict[str, eq.CarryIn], env: dict[str, eq.Expr]) -> _Ends | None:
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return None
    for low, a in carries.items():
        for high, b in carries.items():
            gap = (fact.poly - Poly({(b,): 1}) + Poly({(a,): 1})).value
            if low != high and gap in _FORMS:
                one, two = _taken(env[low], a), _taken(env[high], b)
                either = one is not None and two is not None and simplify.opposite(one[0], two[0])
                return _Ends(low, high, gap, one, two, Poly({(b,): 1})) if either else None  # type: ignore[arg-type]
    return None


def _counted(condition: eq.Expr, carries: dict[str, eq.CarryIn], env: dict[str, eq.Expr]) -> _Ends | None:
    """A start and a count of places, which ends the search at 0: one case leaves their sum as it is, one the start."""
    fact = classify(condition)
    if fact is None or fact.kind != "ge":
        return None
    for high, n in carries.items():
        if n.type.kind == "uint" or (fact.poly - Poly({(n,): 1})).value != -1:
            continue
        for low, a in carries.items():
            one = _taken(env[low], a) if low != high else None
            match env[high]:
                case eq.Op(name="select", args=(test, then, other)) if one is not None:
                    end = Poly({(a,): 1}) + Poly({(n,): 1})
                    for c, kept, less in ((test, then, other), (simplify.negation(test), other, then)):
                        if c is one[0] and (to_poly(one[1]) + to_poly(kept) - end).value == 0:
                            two = (simplify.negation(c), to_expr(Poly({(a,): 1}) + to_poly(less)))
                            return _Ends(low, high, -1, one, two, end, counts=True)
    return None


def _taken(update: eq.Expr, c: eq.Expr) -> tuple[eq.Expr, eq.Expr] | None:
    """``(condition, value)`` if the update is ``value if condition else c``."""
    match update:
        case eq.Op(name="select", args=(condition, a, b)) if b is c:
            return condition, a
        case eq.Op(name="select", args=(condition, a, b)) if a is c:
            return simplify.negation(condition), b
    return None


def _middle(ends: _Ends, low: eq.Expr) -> eq.Expr | None:
    """What the comparison reads at, if it is the middle between the ends, and these go there."""
    one, two, offsets = ends.one, ends.two, _FORMS[ends.gap]
    subscripts = {n.subscripts for n in topological((one[0],)) if isinstance(n, eq.Read) and low in topological((n,))}
    if len(subscripts) != 1 or any(n.view for n in topological((one[0],)) if isinstance(n, eq.Read)):
        return None
    (where,) = subscripts
    if len(where) != 1:
        return None
    middle = to_poly(where[0])
    if (to_poly(one[1]) - middle).value != offsets[0] or (to_poly(two[1]) - middle).value != offsets[1]:
        return None
    half, whole = where[0], ends.end + Poly({(low,): 1})
    rest = middle - Poly({(low,): 1})
    if len(rest.terms) == 1 and len(middle.terms) == 2:  # lo + (hi - lo) // 2
        (term, factor), *_ = rest.terms.items()
        half, whole = term[0], ends.end - Poly({(low,): 1})
        if factor != 1 or len(term) != 1:
            return None
    match half:
        case (
            eq.Op(name="floordiv" | "tdiv", args=(x, eq.Const(value=2)))
            | eq.Op(name="shr", args=(x, eq.Const(value=1)))
        ):
            return where[0] if (to_poly(x) - whole).value == 0 else None
    return None


def _compared(test: eq.Expr, name: str) -> eq.Op | None:
    """``f(k) < v`` or ``f(k) <= v``, where f is a function of the index alone and v one of the rest; None if not."""
    turned = isinstance(test, eq.Op) and test.name == "not"
    if turned:
        test = test.args[0]  # type: ignore[union-attr]
    if not isinstance(test, eq.Op) or test.name not in TURNED:
        return None
    relation, (a, b) = test.name, test.args
    if name in free_indices(b):
        relation, a, b = TURNED[relation], b, a
    relation = _OPPOSITE[relation] if turned else relation
    if relation not in ("lt", "le") or free_indices(a) != {name} or name in free_indices(b):
        return None
    if a.type.kind in ("bool", "complex") or b.type.kind in ("bool", "complex"):
        return None
    return eq.Op(relation, (a, b), BOOL)


def _at(a: Access, there: dict[eq.Expr, eq.Expr], path: tuple[eq.Expr, ...], own: set[eq.CarryIn]) -> Access | None:
    """An access of a round as one of each place of the range; None where it is no function of the place."""
    new = map_access(a, lambda e: substitute(e, there))
    node = None if a.node is None else substitute(a.node, there)
    new = replace(new, path=path, node=node if isinstance(node, eq.Read) else None)
    return None if own & set(topological((*new.subscripts, *new.whole))) else new
