"""Arrays chosen by a number become pointers that move: ``d_u[cur]`` with ``cur = 1 - cur`` is a swap.

The names of a bank (``d_u_0``, ``d_u_1``) stand for its arrays as they lie after some rotations (:mod:`.phases`), and a
choice whose number keeps its distance from them is one of the names. A round of a loop ends with the rotation by which
its numbers move on, so that the choices mean the same in every round; branches end, and loops are left, with the
rotation that makes what is known the same on every way. What a rotation is to memory, the raising of pointers knows.

Side conditions, each checked: the distance of each choice is one number; a name of the bank that stands without a
choice is used where the rotations so far are known.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from kraise.diagnostics import Span, refuse
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, set_within
from kraise.ir.rename import renamed, within
from kraise.ir.types import BOOL, INT
from kraise.raising.hosts.phases import Facts, Known, Sum

MOST_ARRAYS = 16
Body = tuple[h.Stmt, ...]


def without_choices(body: Body, parameters: set[str]) -> tuple[Body, tuple[tuple[k.Expr, k.Expr], ...]]:
    """The body with no :class:`h.Chosen` in it, and the pairs of bounds (low, high) that are taken to be in order.
    ``parameters`` are the numbers that the caller gives.

    Raises Refused (KR211).
    """
    ordered: list[tuple[k.Expr, k.Expr]] = []
    while choices := within(body, h.Chosen):
        names = choices[0].names
        bank = _Bank(names, choices[0].span, parameters)
        try:
            body = bank.run(body)
        except _Unknown as unknown:
            reason = f"which of the {len(names)} arrays this number chooses is not known"
            hint = "change the number by the same step in every round, or swap the names (a, b = b, a) instead"
            raise refuse("KR211", reason, unknown.span or choices[0].span, hint) from None
        ordered += [pair for pair in bank.ordered if pair not in ordered]
    return body, tuple(ordered)


class _Unknown(Exception):
    """A choice, or a name of the bank, whose place is not known."""

    def __init__(self, span: Span | None):
        super().__init__()
        self.span = span


@dataclass(frozen=True)
class _Rotate:
    """A statement: the rotation of a round."""

    by: int


@dataclass
class _Loop:
    """A loop that is being read: the facts at the head of a round, and where it is left."""

    head: Facts
    counter: set[str]
    left: list[Facts] = field(default_factory=list)


class _Bank:
    """The arrays of one bank."""

    def __init__(self, names: tuple[str, ...], span: Span | None, parameters: set[str]):
        if len(names) > MOST_ARRAYS:
            raise refuse(
                "KR211", f"one of {len(names)} arrays is chosen", span, "make them one array with one axis more"
            )
        self.names, self.n, self.parameters = names, len(names), parameters
        self.loops: list[_Loop] = []
        self.ranges: list[tuple[k.Expr, k.Expr, Sum]] = []  # bounds of loops, and what their distance is
        self.ordered: list[tuple[k.Expr, k.Expr]] = []
        self.choosers: set[str] = set()  # the numbers that the choices depend on

    def run(self, body: Body) -> Body:
        """The function's body."""
        self.choosers = _choosers(body, self.names)
        try:
            facts = Facts(self.n)
            found, _ = self.block(body, facts)
        except _Unknown:  # a number of the caller may choose from the beginning on
            given = sorted(self.choosers & self.parameters)
            if not given or self.n != 2:
                raise
            self.loops, self.ranges, facts = [], [], Facts(self.n)
            first = self.turned(k.Var(given[0], INT), facts)
            found, _ = self.block(body, facts)
            found = (*first, *found)
        if facts.counted:
            self.ordered = [(low, high) for low, high, distance in self.ranges if distance.terms]
        return found

    def rotation(self, by: int, span: Span | None) -> Body:
        """The names moved on by ``by``."""
        if not by % self.n:
            return ()
        sources = tuple(k.ArrayRef(self.names[(i + by) % self.n]) for i in range(self.n))
        return (h.Point(self.names, sources, span=span),)

    def turned(self, by: k.Expr, facts: Facts) -> Body:
        """The rotation by a number that is known when the function runs, of two arrays."""
        known = facts.of(by)
        facts.phase = facts.phase.plus(known.sum, 1, self.n) if facts.phase and known.sum is not None else None
        facts.near = {}
        for name, _ in known.sum.terms if known.sum is not None else ():
            facts.sums.setdefault(name, Sum(0, ((name, 1),)))
        facts.settle()
        half = by if isinstance(by, k.Op) and by.name == "mod" else k.Op("mod", (by, k.Const(2, INT)), INT)
        odd = by if by.type == BOOL else k.Op("ne", (half, k.Const(0, INT)), BOOL)
        return (h.If(odd, self.rotation(1, None)),)

    def back(self, facts: Facts) -> Body:
        """The rotation after which the names stand for their own arrays again, where that takes a number."""
        phase = facts.phase
        if phase is None or any(n.startswith("@") for n, _ in phase.terms):  # a number keeps its distance from it
            phase = next(
                (Sum(-c % self.n, ((v, 1),)) for v, c in sorted(facts.near.items()) if v in self.choosers), None
            )
        if phase is None or not phase.terms or self.n != 2:
            return ()
        by: k.Expr = k.Var(phase.terms[0][0], INT)  # a factor is 1, modulo 2
        for name, _ in phase.terms[1:]:
            by = k.Op("add", (by, k.Var(name, INT)), INT)
        by = k.Op("add", (by, k.Const(phase.constant, INT)), INT) if phase.constant else by
        lines = self.turned(by, facts)
        facts.phase = Sum(0)
        facts.settle()
        return lines

    def block(self, body: Body, facts: Facts) -> tuple[Body, Facts | None]:
        """The statements without choices; the facts after them, None where the block is left before its end."""
        out: list[h.Stmt] = []
        for stmt in body:
            lines, after = self.statement(stmt, facts)
            out += lines
            if after is None:
                return tuple(out), None
            facts = after
        return tuple(out), facts

    def statement(self, stmt: h.Stmt, facts: Facts) -> tuple[Body, Facts | None]:
        """One statement."""
        match stmt:
            case _Rotate(by=by):
                facts.rotate(by)
                return self.rotation(by, None), facts
            case h.If():
                return self.branch(stmt, facts)
            case h.For() | h.While():
                return self.loop(stmt, facts)
            case h.Break():
                by = facts.best_rotation(self.loops[-1].head, self.choosers - self.loops[-1].counter)
                facts.rotate(by)
                self.loops[-1].left.append(facts)
                return (*self.rotation(by, stmt.span), stmt), None
            case h.Assign(name=name, value=value):
                found = self.value(value, facts)
                stmt = self.placed(stmt, facts, stmt.span)
                facts.assign(name, found)
                return (stmt,), facts
            case h.Point(sources=sources):
                chosen = [c for c in sources if isinstance(c, h.Chosen) and c.names == self.names]
                if len(chosen) == 1 and self.n == 2 and not self.loops and facts.of(chosen[0].index).near is None:
                    first = (*self.back(facts), *self.turned(chosen[0].index, facts))
                    names = tuple(self.place(n, facts, stmt.span) for n in stmt.names)
                    moved = tuple(k.ArrayRef(self.names[0]) if s is chosen[0] else s for s in sources)
                    return (*first, replace(stmt, names=names, sources=moved)), facts  # type: ignore[arg-type]
                pointed = tuple(self.source(s, facts, stmt.span) for s in sources)
                names = tuple(self.place(n, facts, stmt.span) for n in stmt.names)
                return (replace(stmt, names=names, sources=pointed),), facts
            case h.Return():
                first = self.back(facts) if set(expression_names(stmt.values)) & set(self.names) else ()
                if first:  # what else is returned does not turn with the names
                    others = [v.array for v in stmt.values if isinstance(v, k.ArrayRef) and v.array not in self.names]
                    first = (*(h.Bind(n, h.Whole(n)) for n in dict.fromkeys(others)), *first)
                return (*first, self.placed(stmt, facts, stmt.span)), None
        done = self.placed(stmt, facts, stmt.span)
        match stmt:
            case h.Launch(results=results) | h.CallHost(results=results):
                facts.kill(set(results))
        return (done,), facts

    def value(self, e: h.Expr, facts: Facts) -> Known:
        """What is known of a number; the larger bound of a loop that is taken to run is its end."""
        match e:
            case k.Op(name="max", args=(low, high)) if any(p[:2] == (low, high) for p in self.ranges):
                return facts.of(high)
        return facts.of(e)

    # --- names

    def place(self, name: str, facts: Facts, span: Span | None) -> str:
        """What a name that stands without a choice is called here."""
        if name not in self.names:
            return name
        if facts.phase is None or facts.phase.terms:
            raise _Unknown(span)
        return self.names[(self.names.index(name) - facts.phase.constant) % self.n]

    def placed(self, node, facts: Facts, span: Span | None):  # type: ignore[no-untyped-def]
        """A statement with the names of the bank as they are called here."""
        if facts.phase == Sum(0):
            return node
        mentioned = {n for n in expression_names(node) if n in self.names}
        if isinstance(node, tuple):
            mentioned |= {n for n in node if n in self.names}
        mentioned |= {n for f in ("name", "array", "like") if (n := getattr(node, f, "")) in self.names}
        return renamed(node, {n: self.place(n, facts, span) for n in mentioned}) if mentioned else node

    def source(self, source: k.ArrayRef | h.Chosen, facts: Facts, span: Span | None) -> k.ArrayRef | h.Chosen:
        """Where a name is pointed to."""
        if isinstance(source, k.ArrayRef):
            return replace(source, array=self.place(source.array, facts, span))
        if source.names != self.names:
            return source
        found = facts.of(source.index)
        if found.near is None:
            raise _Unknown(source.span or span)
        return k.ArrayRef(self.names[found.near], span=source.span)

    # --- branches and loops

    def branch(self, stmt: h.If, facts: Facts) -> tuple[Body, Facts | None]:
        """Both branches, the arrays of the bank at the same places after them."""
        condition = self.placed(stmt.condition, facts, stmt.span)
        then, one = self.block(stmt.body, facts.copy())
        orelse, two = self.block(stmt.orelse, facts.copy())
        if one is not None and two is not None:
            by = one.best_rotation(two, self.choosers)
            one.rotate(by)
            then = (*then, *self.rotation(by, stmt.span))
            one.meet(two)
        after = one if one is not None else two
        return (replace(stmt, condition=condition, body=then, orelse=orelse),), after

    def loop(self, stmt: h.For | h.While, facts: Facts) -> tuple[Body, Facts | None]:
        """A loop whose rounds hold the rotation by which its numbers move on."""
        unknown: _Unknown | None = None
        for by in range(self.n):
            kept = len(self.ranges)
            try:
                return self.rounds(stmt, facts.copy(), by)
            except _Unknown as found:
                unknown = unknown or found
                del self.ranges[kept:]
        assert unknown is not None
        raise unknown

    def rounds(self, stmt: h.For | h.While, facts: Facts, by: int) -> tuple[Body, Facts | None]:
        """The loop with the rotation ``by`` in each round: where its numbers have moved on, or at its end."""
        steps = [n for n, s in enumerate(stmt.body, 1) if isinstance(s, h.Assign) and s.name in self.choosers]
        at = steps[-1] if steps else len(stmt.body)
        lines: Any = (*stmt.body[:at], _Rotate(by), *stmt.body[at:])
        before = facts.copy()
        changed = set_within(stmt.body) | ({stmt.var} if isinstance(stmt, h.For) else set())
        bounds = (stmt.start, stmt.stop, stmt.step) if isinstance(stmt, h.For) else ()
        known = tuple(facts.of(b) for b in bounds)
        placed = self.placed(bounds, facts, stmt.span)
        if isinstance(stmt, h.For):
            facts.assign(stmt.var, replace(known[0], exact=False))
            facts.settle()
        facts.settle()
        head = facts.copy()
        head.sums = {v: s for v, s in head.sums.items() if v not in changed and not changed & set(dict(s.terms))}
        own = Sum(0, ((f"@{len(self.loops)}", 1),))  # the phase at the head of a round, where rounds move it
        if head.phase is None or changed & set(dict(head.phase.terms)):
            head.phase = own
        while True:
            self.loops.append(_Loop(head.copy(), {stmt.var} if isinstance(stmt, h.For) else set()))
            try:
                condition = self.placed(getattr(stmt, "condition", None), head, stmt.span)
                body, end = self.block(lines, head.copy())
            finally:
                loop = self.loops.pop()
            if end is None:  # no second round
                end = head.copy()
            if isinstance(stmt, h.For):
                step = k.Op("add", (k.Var(stmt.var, stmt.start.type), stmt.step), stmt.start.type)
                end.assign(stmt.var, replace(end.of(step), exact=False))
            end.settle()
            near = {v: c for v, c in head.near.items() if end.near.get(v) == c}
            exact = head.exact & end.exact
            sums = {v: s for v, s in head.sums.items() if end.sums.get(v) == s}
            phase = head.phase if head.phase in (own, end.phase) else own
            if (near, exact, sums, phase) == (head.near, head.exact, head.sums, head.phase):
                break
            head.near, head.exact, head.sums, head.phase = near, exact, sums, phase
        after = head.copy()
        if isinstance(stmt, h.For):
            after.kill({stmt.var})
        if head.phase == own:
            by_round = end.phase.plus(own, -1, self.n) if end.phase is not None else None
            known_after = by_round is not None and not by_round.terms and not loop.left and isinstance(stmt, h.For)
            after.phase = self.moved(before, stmt, known, by_round.constant) if known_after else None  # type: ignore
        for left in loop.left:
            left.phase = None if head.phase == own else left.phase
            after.meet(left)
        changes = {"body": body, "condition": condition}
        if placed:
            changes |= dict(zip(("start", "stop", "step"), placed, strict=True))
        return (replace(stmt, **changes),), after  # type: ignore[arg-type]

    def moved(self, before: Facts, stmt: h.For, known: tuple[Known, ...], by: int) -> Sum | None:
        """The phase after all rounds of a loop that counts by one, where a round moves it on by ``by``."""
        low, high = known[0].sum, known[1].sum
        changed = set_within(stmt.body)
        if low is None or high is None or before.phase is None or stmt.step != k.Const(1, stmt.step.type):
            return None
        if changed & {*expression_names(stmt.start, stmt.stop), *dict(before.phase.terms)}:
            return None
        if isinstance(stmt.start, k.Const) and isinstance(stmt.stop, k.Const):
            high = high if stmt.start.value.real < stmt.stop.value.real else low
        distance = high.plus(low, -1, self.n)
        self.ranges.append((stmt.start, stmt.stop, distance))
        return before.phase.plus(distance, by, self.n)


def _choosers(body: Body, names: tuple[str, ...]) -> set[str]:
    """The numbers that the choices of a bank depend on."""
    found = {n for c in within(body, h.Chosen) if c.names == names for n in expression_names(c.index)}
    assigned = [(a.name, set(expression_names(a.value))) for a in within(body, h.Assign)]
    while more := {n for name, used in assigned if name in found for n in used} - found:
        found |= more
    return found
