"""``if x[j] < x[best]: best = j``: the index of an extremum, which is looked up at what is carried."""

from __future__ import annotations

from kraise.analysis.conditions import conjunction, conjuncts
from kraise.analysis.dependence import nonnegative
from kraise.analysis.poly import to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir.types import BOOL, INT
from kraise.ir.walk import free_indices, substitute, transform
from kraise.raising.carried.arg import taken
from kraise.raising.carried.problem import Declined, Problem, Solved, domain_of
from kraise.raising.carried.reduction import previous
from kraise.raising.loops.counted import NEGATED, TURNED
from kraise.raising.run import simplify
from kraise.raising.run.arithmetic import tidy
from kraise.raising.writes.accumulate import holds

_COMPARED = {"lt": ("min", True), "le": ("min", False), "gt": ("max", True), "ge": ("max", False)}
_TESTS = {turn: name for name, turn in _COMPARED.items()}


def arg_lookup(p: Problem, name: str) -> Solved | Declined:
    """The index is replaced by the round's where ``f(round)`` is beyond ``f(index)``: the arg-extremum of f over the
    rounds and the index before the loop. Of equal values the first one or, where equality replaces, the last."""
    c = p.carries[name]
    own = taken(p.updates[name], c)
    if own is None or _uncast(own[1]) is not p.index:
        return Declined(f"{name} is not replaced by the loop's index under a condition")
    parts = conjuncts(own[0])
    tests = [x for x in parts if holds(x, c)]
    found = _beyond(p, tests[0], c) if len(tests) == 1 else None
    if found is None:
        return Declined(f"{name} is not replaced where a value beyond that at {name} is met")
    (op, strict), e, at = found
    where = conjunction([x for x in parts if x is not tests[0]])
    if p.used_in(name) or not p.free_of_pending(e) or (where is not None and not p.free_of_pending(where)):
        return Declined(f"the running value of {name} is used in the loop")
    init = p.inits[name]
    form = f"an arg-reduction ({op})"
    last = (not strict) != (p.step < 0)
    if where is None and (wide := _with_init(p, init)) is not None:
        axis, left = wide
        return Solved({name: eq.ArgReduce(op, axis, e, left, last, INT)}, form=form)
    axis, left = p.domain(where)
    better = simplify.op(_TESTS[op, strict], (p.reduce(op, e, where), tidy(substitute(at, {c: init}))), BOOL)
    which = eq.ArgReduce(op, axis, e, left, last, INT)
    return Solved({name: simplify.select(better, which, init, init.type)}, form=form)


def _beyond(p: Problem, test: eq.Expr, c: eq.CarryIn) -> tuple[tuple[str, bool], eq.Expr, eq.Expr] | None:
    """``f(round) < f(c)``, as what is looked for, ``f(round)`` and ``f(c)``."""
    match test:
        case eq.Op(name="not", args=(eq.Op(name=name, args=args),)) if name in _COMPARED:
            relation, (a, b) = NEGATED[name], args
        case eq.Op(name=relation, args=(a, b)) if relation in _COMPARED:
            pass
        case _:
            return None
    for e, at, way in ((a, b, relation), (b, a, TURNED[relation])):
        if not holds(e, c) and p.index.name in free_indices(e) and substitute(flat(e), {p.index: c}) is flat(at):
            return _COMPARED[way], e, at
    return None


def _with_init(p: Problem, init: eq.Expr) -> tuple[eq.Axis, eq.Expr | None] | None:
    """The loop's axis with the index before the loop, where that is the first round's or comes just before, and the
    condition that is left. Of an empty range the arg-extremum is where it starts."""
    first = next((x for x in (p.start, previous(p)) if to_poly(x) == to_poly(_uncast(init))), None)
    if p.step != 1 or first is None:
        return None
    bounds = (eq.Op("ge", (p.index, first), BOOL), eq.Op("lt", (p.index, p.stop), BOOL))
    axis, left = domain_of(p.index.name, bounds, p.path, p.open, None)
    if left is None and axis.lo is first:
        return axis, None
    return (axis, left) if nonnegative(p.path, to_poly(p.stop) - to_poly(first) - 1) else None


def flat(e: eq.Expr) -> eq.Expr:
    """``e`` with loads by the flat positions that the source gives, not yet taken apart into rows."""

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and node.view:
            position = to_poly(node.subscripts[0])
            for digit, radix in zip(node.subscripts[1:], node.view[1:], strict=True):
                position = position * to_poly(radix) + to_poly(digit)
            return eq.Read(node.version, (to_expr(position),), node.type, (), node.safe)
        if isinstance(node, eq.Read):
            return eq.Read(node.version, tuple(to_expr(to_poly(x)) for x in node.subscripts), node.type, (), node.safe)
        return node

    return transform(e, one)


def _uncast(e: eq.Expr) -> eq.Expr:
    return _uncast(e.arg) if isinstance(e, eq.Cast) and e.type.is_integer else e
