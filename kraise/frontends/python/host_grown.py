"""Lists of Python host functions that grow by one element in each round of a loop, as arrays.

``losses = []``, then ``losses.append(loss)`` in a ``for t in range(n)``, is ``losses = np.zeros(n)`` and
``losses[t] = loss``; with arrays that are appended the new array has one axis more. An append under ``t % k == 0``
fills one place in k rounds, and so does one under ``(t + 1) % k == 0``. What a list begins with (``losses = [first]``)
has the first places.

Side conditions, checked: the loop has no way out and no ``continue``; there is one append, which is evaluated once in
each round (or in each that the remainder says); nothing uses the list between its making and the end of the loop, and
nothing changes it after that. ``n`` has its value of the loop's start: so it has for ``range``.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python import host_fresh, host_ranks
from kraise.frontends.python.host_rounds import integer, number, tuple_of
from kraise.frontends.python.host_said import plain
from kraise.frontends.python.host_scope import HostScope, array_names
from kraise.frontends.python.host_units import assigned
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh

_WHOLE = frozenset(("int", "len", "round"))  # what gives integers
_JOINS = ("numpy.array", "numpy.asarray", "numpy.stack", "numpy.vstack", "cupy.array", "cupy.asarray", "cupy.stack")
_READ = frozenset(("copy_to_host", "copy", "get"))


def with_arrays(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with arrays for such lists."""
    numpy = next((n for n, q in scope.imports.bound.items() if q == "numpy"), "")
    if not numpy or not isinstance(node.body, cst.IndentedBlock):
        return node
    if not any(n.attr.value == "append" for n in all_of(cst.Attribute, node.body)):
        return node
    array_names(scope, node)
    grown = _Grown(scope, node, numpy)
    names = {dotted(n.value) for n in all_of(cst.Attribute, node.body) if n.attr.value == "append"}
    apart = [new for line in node.body.body for new in _apart(line)]
    body = grown.block(plain(scope, apart, names, grown.taken, grown.ranks))
    if body is None:
        return node
    new = node.with_changes(body=node.body.with_changes(body=body))
    for made, old in ((new, node), (new.name, node.name)):
        if old in scope.source.positions:
            scope.source.positions.setdefault(made, scope.source.positions[old])
    return new


class _Grown:
    def __init__(self, scope: HostScope, node: cst.FunctionDef, numpy: str):
        self.scope, self.node, self.numpy = scope, node, numpy
        self.ranks = host_ranks.certain(scope, node)
        self.taken = {n.value for n in all_of(cst.Name, node)}
        self.kept: list[Any] = []  # names for what the list that became an array last begins with

    def block(self, lines: list[Any]) -> list[Any] | None:
        """Statements with the lists that grow in their loops as arrays; None where there are none."""
        found = False
        while self.one(lines):
            found = True
        return lines if found else None

    def one(self, lines: list[Any]) -> bool:
        """Whether one more list of a block became an array; the block is changed."""
        for at, line in enumerate(lines):
            for name, first in _made(line):
                later = next((n for n in range(at + 1, len(lines)) if _mentions(lines[n], name)), 0)
                loop = lines[later]
                if not later or not isinstance(loop, cst.For):
                    continue
                new = self.filled(loop, name, first)
                after = [self.joined(x, name) for x in lines[later + 1 :]]
                if new is not None and _only_read(after, name):
                    lines[later:] = [*new, *after]
                    lines[at : at + 1] = [*self.kept, _without(line, name)]
                    return True
        return False

    def filled(self, loop: cst.For, name: str, begun: list[cst.BaseExpression]) -> list[Any] | None:
        """``name = np.zeros(…)``, the places that it begins with, and the loop that fills it; None where a side
        condition does not hold."""
        match loop:
            case cst.For(
                target=cst.Name(value=var), iter=cst.Call(func=cst.Name(value="range"), args=args), orelse=None
            ):
                if var == "_":
                    var = fresh(self.taken, "round")
                    loop = self.placed(loop.with_changes(target=cst.Name(var)), loop)
                bounds = [a.value for a in args]
            case _:
                return None
        if all_of(cst.Break | cst.Continue | cst.Return, loop.body):
            return None
        if sum(isinstance(n, cst.Name) and n.value == name for n in walk(loop)) != 1:
            return None
        if var in {n for s in loop.body.body for n in assigned(s)}:
            return None
        start, stop, step = (integer(0), bounds[0], integer(1)) if len(bounds) == 1 else (*bounds, integer(1))[:3]
        if number(step) is None or number(step) < 1:  # type: ignore[operator]
            return None
        body = list(loop.body.body)
        for at, line in enumerate(body):
            every: cst.BaseExpression | None = integer(1)
            inner: list[Any] = [line]
            late = 0
            if isinstance(line, cst.If) and line.orelse is None:
                (every, late), inner = self.period(line.test, var, start, step), list(line.body.body)
            for place, part in enumerate(inner):
                value = _appended(part, name)
                if value is None or every is None:
                    continue
                before = body if inner[0] is line else [*body[:at], *inner]
                where = at if inner[0] is line else at + place
                if self.axes(value) is not None and not host_fresh.of_round(
                    self.scope, self.node, before, where, value
                ):
                    return None
                # what an array is made of has its axes
                like = host_fresh.made_of(before, where, value) if self.axes(value) is not None else value
                if any((self.axes(b) is None) != (self.axes(like) is None) for b in begun):
                    return None
                when = _more(cst.Name(var), late - (number(start) or 0))
                count, index = _count(start, stop, step, every), _index(var, start, step, every)
                if late:  # after k rounds, not before them
                    count, index = _periods(start, stop, every), _more(_over(when, every), -1)
                made = self.array(like, _more(count, len(begun)))
                if made is None:
                    return None
                if self.axes(like) is None:
                    self.scope.recorded.add(name)
                store = self.store(part, name, value, _more(index, len(begun)), like)
                inner[place] = store
                if isinstance(line, cst.If):
                    body[at] = line.with_changes(body=line.body.with_changes(body=inner))
                else:
                    body[at] = store
                new = loop.with_changes(body=loop.body.with_changes(body=body))
                own = [fresh(self.taken, f"{name}_{n}") for n in range(len(begun))]
                self.kept = [self.placed(_assigned(n, b), loop) for n, b in zip(own, begun, strict=True)]
                places = [self.store(loop, name, cst.Name(n), integer(at), like) for at, n in enumerate(own)]
                return [self.placed(_assigned(name, made), loop), *places, self.placed(new, loop)]
        return None

    def joined(self, line: Any, name: str) -> Any:
        """``np.array(kept)`` and ``np.stack(kept)`` as the array itself, ``kept[i][j]`` as ``kept[i, j]``."""

        def change(inner: cst.CSTNode) -> cst.CSTNode | None:
            match inner:
                case cst.SimpleStatementLine(
                    body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=target))], value=value)]
                ) if target == name and change(value) is not None:
                    return inner.with_changes(body=[cst.Pass()])
                case cst.Call(func=func, args=[cst.Arg(value=cst.Name(value=owner))]) if owner == name:
                    joins = self.scope.imports.qualified(dotted(func)) in _JOINS
                    return cst.Name(name) if joins else None
                case cst.Subscript(
                    value=cst.Subscript(
                        value=cst.Name(value=owner), slice=[cst.SubscriptElement(slice=cst.Index()) as at]
                    ),
                    slice=inside,
                ) if owner == name:
                    items = [at, *(rebuilt(self.scope.source, i, change) for i in inside)]
                    items = [i.with_changes(comma=cst.MaybeSentinel.DEFAULT) for i in items]
                    return cst.Subscript(cst.Name(name), items)
            return None

        return rebuilt(self.scope.source, line, change)

    def period(
        self, test: cst.BaseExpression, var: str, start: Any, step: Any
    ) -> tuple[cst.BaseExpression | None, int]:
        """``k`` of ``t % k == 0`` in ``for t in range(n)``, and 1 where the k-th round is the first (``(t + 1) % k ==
        0``, or rounds from 1 on); None for another condition."""
        match test:
            case cst.Comparison(
                left=cst.BinaryOperation(left=left, operator=cst.Modulo(), right=period),
                comparisons=[cst.ComparisonTarget(operator=cst.Equal(), comparator=cst.Integer(value="0"))],
            ):
                more = 0
                match left:
                    case cst.BinaryOperation(left=inner, operator=cst.Add(), right=cst.Integer(value="1")):
                        left, more = inner, 1
                late = (number(start) if number(start) is not None else 2) + more  # type: ignore[operator]
                if dotted(left) != var or number(step) != 1 or late not in (0, 1):
                    return None, 0
                fixed = isinstance(period, cst.Name) and period.value not in assigned(self.node.body)
                return (period, late) if fixed or (number(period) or 0) > 0 else (None, 0)
        return None, 0

    def array(self, value: cst.BaseExpression, count: cst.BaseExpression) -> cst.BaseExpression | None:
        """``np.zeros(…)`` for so many of what is appended; None where its extents are not known."""
        zeros, word = cst.Attribute(cst.Name(self.numpy), cst.Name("zeros")), cst.Name("dtype")
        found = self.axes(value)
        if found is None:
            whole = isinstance(value, cst.Integer) or dotted(getattr(value, "func", value)) in _WHOLE
            return cst.Call(zeros, [cst.Arg(count), *([cst.Arg(cst.Name("int"), keyword=word)] if whole else [])])
        whose, axes = found
        if not axes or not whose:  # what is made on the spot has no name
            return None
        array = cst.parse_expression(whose)
        extents = [
            cst.Subscript(cst.Attribute(array, cst.Name("shape")), [cst.SubscriptElement(cst.Index(integer(n)))])
            for n in axes
        ]
        kind = cst.Arg(cst.Attribute(array, cst.Name("dtype")), keyword=word)
        return cst.Call(zeros, [cst.Arg(tuple_of([count, *extents])), kind])

    def axes(self, value: cst.BaseExpression) -> tuple[str, list[int]] | None:
        """The array whose axes an appended array has, with these (none where they are not known); None for a number."""
        inner = _copied(value)
        rank = self.ranks.get(dotted(inner), 0)
        if self.scope.is_array(inner) or not isinstance(inner, cst.Subscript):
            return (dotted(inner), list(range(rank))) if self.scope.is_array(value) else None
        whose = dotted(_copied(inner.value))  # u.copy_to_host()[-1]
        rank = self.ranks.get(whose, 0)
        if len(inner.slice) < rank and all(isinstance(i.slice, cst.Index) for i in inner.slice):
            one = [isinstance(getattr(i.slice, "value", None), cst.Tuple) for i in inner.slice]
            return (whose, []) if any(one) else (whose, list(range(len(inner.slice), rank)))
        return None

    def store(self, line: Any, name: str, value: Any, index: cst.BaseExpression, like: Any = None) -> Any:
        """``name[index] = value``, with the axes of ``like``."""
        found = self.axes(value if like is None else like)
        items = [cst.SubscriptElement(cst.Index(index))]
        items += [cst.SubscriptElement(cst.Slice(None, None)) for _ in (found[1] if found is not None else ())]
        made = cst.Assign([cst.AssignTarget(cst.Subscript(cst.Name(name), items))], value)
        return self.placed(cst.SimpleStatementLine([self.placed(made, line)]), line)

    def placed(self, new: Any, old: Any) -> Any:
        """A new node at the place of an old one."""
        return placed(self.scope.source, new, old)


def _apart(line: Any) -> list[Any]:
    """``a, b = [], []`` as two statements."""
    match line:
        case cst.SimpleStatementLine(
            body=[
                cst.Assign(
                    targets=[cst.AssignTarget(target=cst.Tuple(elements=names))], value=cst.Tuple(elements=parts)
                )
            ]
        ) if len(names) == len(parts) and all(isinstance(p.value, cst.List) for p in parts):
            if any(_mentions(p.value, dotted(n.value)) for p in parts for n in names):
                return [line]
            pairs = zip(names, parts, strict=True)
            return [line.with_changes(body=[cst.Assign([cst.AssignTarget(n.value)], p.value)]) for n, p in pairs]  # type: ignore[arg-type]
    return [line]


def _made(line: Any) -> list[tuple[str, list[cst.BaseExpression]]]:
    """The names that a statement makes lists, with their elements."""
    out: list[tuple[str, list[cst.BaseExpression]]] = []
    for small in line.body if isinstance(line, cst.SimpleStatementLine) else ():
        match small:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.List(elements=parts)):
                if not any(isinstance(p, cst.StarredElement) for p in parts):
                    out.append((name, [p.value for p in parts]))
    return out


def _assigned(name: str, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], value)])


def _more(node: cst.BaseExpression, more: int) -> cst.BaseExpression:
    """A number and so many more."""
    known = number(node)
    if known is not None or not more:
        return integer(known + more) if known is not None else node
    match node:
        case cst.BinaryOperation(left=left, operator=cst.Add() | cst.Subtract() as sign, right=right) if (
            by := number(right)
        ) is not None:
            return _more(left, more + (by if isinstance(sign, cst.Add) else -by))
    return cst.BinaryOperation(_bracketed(node), cst.Add() if more > 0 else cst.Subtract(), integer(abs(more)))


def _without(line: Any, name: str) -> Any:
    kept = [s for s in line.body if [n for n, _ in _made(line.with_changes(body=[s]))] != [name]]
    return line.with_changes(body=kept or [cst.Pass()])


def _mentions(line: Any, name: str) -> bool:
    return any(n.value == name for n in all_of(cst.Name, line))


def _appended(line: Any, name: str) -> cst.BaseExpression | None:
    match line:
        case cst.SimpleStatementLine(body=[
            cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value="append")),
                                    args=[cst.Arg(value=value)]))
        ]) if owner == name and not isinstance(value, cst.Tuple | cst.List | cst.Dict):  # fmt: skip
            return value
    return None


def _only_read(lines: list[Any], name: str) -> bool:
    """Is the list only read from here on, as an array could be?"""
    for line in lines:
        for inner in walk(line):
            match inner:
                case cst.Attribute(value=cst.Name(value=owner)) if owner == name:
                    return False  # append, extend, pop, …
                case cst.AssignTarget(target=target) | cst.AugAssign(target=target) | cst.For(target=target):
                    if any(n.value == name for n in all_of(cst.Name, target)):
                        return False
                case cst.BinaryOperation(left=left, right=right) if name in (dotted(left), dotted(right)):
                    return False  # lists are joined and repeated by + and *
                case cst.Comparison() if any(n.value == name for n in all_of(cst.Name, inner)):
                    return False
                case cst.If(test=test) | cst.While(test=test) | cst.IfExp(test=test) if dotted(test) == name:
                    return False
    return True


def _copied(value: cst.BaseExpression) -> cst.BaseExpression:
    """``u`` of ``u.copy_to_host()``."""
    while isinstance(value, cst.Call) and not value.args and isinstance(value.func, cst.Attribute):
        if value.func.attr.value not in _READ:
            break
        value = value.func.value
    return value


def _bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.Name | cst.Integer | cst.Attribute | cst.Subscript | cst.Call) or node.lpar:
        return node
    return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


def _count(start: Any, stop: Any, step: Any, every: Any) -> cst.BaseExpression:
    """How many rounds append."""
    first = number(start)
    own = _more(stop, -first) if first is not None else None
    whole = own or cst.BinaryOperation(_bracketed(stop), cst.Subtract(), _bracketed(start))
    by = step if number(step) != 1 else every
    if number(by) != 1:
        known = number(by)
        more = cst.BinaryOperation(_bracketed(by), cst.Subtract(), integer(1))
        top = _more(whole, known - 1) if known is not None else cst.BinaryOperation(_bracketed(whole), cst.Add(), more)
        whole = cst.BinaryOperation(_bracketed(top), cst.FloorDivide(), _bracketed(by))
    rounds = number(whole)
    if rounds is not None:
        return integer(max(rounds, 0))
    if first == 0 or isinstance(whole, cst.Name):
        return whole
    return cst.Call(cst.Name("max"), [cst.Arg(whole), cst.Arg(integer(0))])


def _over(node: Any, by: Any) -> cst.BaseExpression:
    return cst.BinaryOperation(_bracketed(node), cst.FloorDivide(), _bracketed(by))


def _periods(start: Any, stop: Any, every: Any) -> cst.BaseExpression:
    """How often a number of rounds is whole."""
    rounds = _more(stop, -number(start))  # type: ignore[operator]
    known, by = number(rounds), number(every)
    if known is not None and by is not None:
        return integer(max(known, 0) // by)
    return cst.Call(cst.Name("max"), [cst.Arg(_over(rounds, every)), cst.Arg(integer(0))])


def _index(var: str, start: Any, step: Any, every: Any) -> cst.BaseExpression:
    """The place that a round fills."""
    place: cst.BaseExpression = cst.Name(var)
    first = number(start)
    own = _more(place, -first) if first is not None else None
    place = own or cst.BinaryOperation(place, cst.Subtract(), _bracketed(start))
    by = step if number(step) != 1 else every
    return place if number(by) == 1 else cst.BinaryOperation(_bracketed(place), cst.FloorDivide(), _bracketed(by))
