"""Loops of Python host functions over lists of arrays, written out round by round."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_tables import entry, has_rows, may_change, rows_of
from kraise.frontends.python.names import simple_statements
from kraise.frontends.python.source import all_of, dotted, walk
from kraise.ir.host_names import fresh

MOST_ROUNDS = 64


class Rounds:
    """The part that writes loops out; :class:`kraise.frontends.python.host_lists.Lists` has the rest."""

    scope: HostScope
    lists: dict[str, list[str]]
    keys: dict[str, dict[str, str]]
    constants: dict[str, cst.BaseExpression]
    tables: dict[str, Any]  # lists and tuples of literals that nothing changes
    taken: set[str]
    touched: bool
    fixed: int  # inside how many loops and branches that stay
    line: Any
    alone: Any
    named: Any
    assigned: Any
    expression: Any
    elements: Any
    holds_arrays: Any

    def written_out(self, node: cst.For) -> list[Any] | None:
        """A loop over a list, or over the numbers that index one, round by round; None for one that stays."""
        if node.orelse is not None:
            return None
        rounds = self.rounds(node.iter)
        if rounds is None:
            return None
        by_number = isinstance(node.iter, cst.Call) and dotted(node.iter.func) == "range"
        if by_number and not self.uses_counter(node):
            return None
        if len(rounds) > MOST_ROUNDS or all_of(cst.Break | cst.Continue, node.body):
            return None
        self.touched = True
        assigned = {t.value for n in walk(node.body) for t in _targets(n)}
        out: list[Any] = []
        pairs = [self.bound(node.target, value, node) for value in rounds]
        if any(
            isinstance(n, cst.List | cst.Tuple) for n in walk(node.iter)
        ):  # all of it is there before the first round
            for at, each in enumerate(pairs[1:], start=1):
                for n, (name, part) in enumerate(each):
                    if may_change(part, assigned):
                        own = fresh(self.taken, f"{name}_{at + 1}")
                        out.append(self.alone(self.named(own, part, node), node))
                        each[n] = name, cst.Name(own)
        for each in pairs:
            outer = dict(self.constants)
            for name, part in each:
                if (
                    number(part) is not None
                    or isinstance(part, cst.SimpleString | cst.Float)
                    or (isinstance(part, cst.Name) and not {name, part.value} & assigned)
                ):
                    self.constants[name] = part
                else:
                    out.append(self.alone(self.named(name, part, node), node))
            out += [line for s in node.body.body for line in self.line(s)]
            self.constants = outer
        return out

    def made_names(self) -> set[str]:
        """The names of all lists' arrays."""
        return {n for own in self.lists.values() for n in own} | {n for d in self.keys.values() for n in d.values()}

    def rounds(self, node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
        """What a loop runs over, where that is a list of arrays or a constant range; None otherwise."""
        match node:
            case cst.Call(func=func, args=args) if dotted(func) == "range":
                bounds = [number(self.expression(a.value)) for a in args]
                if any(b is None for b in bounds) or not bounds:
                    return None
                return [integer(n) for n in range(*bounds)]  # type: ignore[arg-type]
            case cst.Call(func=func, args=args) if dotted(func) == "zip":
                lists = [self.rounds(a.value) for a in args]
                counts = [len(x) for x in lists if x is not None]
                for at, a in enumerate(args):  # zip(x.shape, block): as many extents as the others have
                    if isinstance(a.value, cst.Attribute) and a.value.attr.value == "shape" and counts:
                        lists[at] = [_element(a.value, n) for n in range(min(counts))]
                return None if None in lists else [tuple_of(list(x)) for x in zip(*lists, strict=False)]  # type: ignore[arg-type]
            case cst.Call(func=func, args=[cst.Arg(value=inner)]) if dotted(func) in ("enumerate", "reversed"):
                found = self.rounds(inner)
                if found is None or dotted(func) == "reversed":
                    return None if found is None else found[::-1]
                return [tuple_of([integer(n), x]) for n, x in enumerate(found)]
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="items" | "keys" | "values" as verb)), args=[]
            ):
                entries: list[Any] = [
                    (cst.SimpleString(repr(k)), cst.Name(n)) for k, n in self.keys.get(dotted(owner), {}).items()
                ]
                if isinstance(owner, cst.Dict):
                    entries = [(cst.SimpleString(repr(k)), v) for k, v in self.dictionary(owner) or ()]
                if entries:
                    pick: Any = {"items": lambda e: tuple_of(list(e)), "keys": lambda e: e[0], "values": lambda e: e[1]}
                    return [pick[verb](e) for e in entries]
            case cst.Name() | cst.Subscript() if isinstance(rows := self.entry(node), cst.List | cst.Tuple):
                return rows_of(rows)
            case cst.Name(value=name) if name in self.keys:
                return [cst.SimpleString(repr(k)) for k in self.keys[name]]
            case cst.Name(value=name) if (
                len(self.scope.constants[name].shape if name in self.scope.constants else ()) == 1
            ):
                return [literal(v) for v in self.scope.constants[name].values]
        found = self.elements(node)
        if found is not None and (isinstance(node, cst.List | cst.Tuple) or self.holds_arrays(found)):
            return found
        return None

    def entry(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """What a name, ``A[s]`` or ``A[s][j]`` of a list of literals is; None for anything else."""
        return entry(self.tables, node, lambda index: number(self.expression(index)))

    def uses_counter(self, node: cst.For) -> bool:
        """Is the counter of a loop the index of a list of arrays, or does the loop make a list longer?"""
        var = dotted(node.target)
        for inner in walk(node.body):
            match inner:
                case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value="append"))) if (
                    dotted(owner) in self.lists
                ):
                    return True
                case cst.Subscript(value=owner, slice=[cst.SubscriptElement(slice=cst.Index(value=index))]) if dotted(
                    owner
                ) in self.lists or has_rows(self.tables.get(dotted(owner))):
                    parts = list(walk(index))
                    mixed = any(isinstance(p, cst.Modulo | cst.BitAnd | cst.BitXor) for p in parts)
                    if not mixed and any(isinstance(p, cst.Name) and p.value == var for p in parts):
                        return True
        return False

    def bound(
        self, target: cst.BaseExpression, value: cst.BaseExpression, node: cst.CSTNode
    ) -> list[tuple[str, cst.BaseExpression]]:
        """The names of a loop's target with their values in a round."""
        if isinstance(target, cst.Name):
            return [(target.value, value)]
        if isinstance(value, cst.Name) and value.value in self.lists:
            value = tuple_of([cst.Name(n) for n in self.lists[value.value]])
        several = isinstance(target, cst.Tuple) and isinstance(value, cst.Tuple | cst.List)
        if several and len(target.elements) == len(value.elements):  # type: ignore[attr-defined]
            pairs = zip(target.elements, value.elements, strict=True)  # type: ignore[attr-defined]
            return [p for t, v in pairs for p in self.bound(t.value, v.value, node)]
        raise self.scope.refuse(node, "the values of this loop do not fit its target", "loop over one list")

    def turned(self, name: str, verb: str, args: list[cst.BaseExpression]) -> list[str] | None:
        """The arrays of a list after ``bufs.rotate(k)``, or ``bufs.append(bufs.pop(0))`` and its mirror."""
        own = self.lists[name]
        by: int | None = None
        match args:
            case [given] if verb == "rotate":
                by = number(self.expression(given))
            case [] if verb == "rotate":
                by = 1
            case [*place, cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=taken)), args=which)] if (
                dotted(owner) == name
            ):
                at = [number(self.expression(a.value)) for a in which]
                first = (taken, at) in (("pop", [0]), ("popleft", []))
                last = (taken, at) in (("pop", []), ("pop", [-1]), ("pop", [len(own) - 1]))
                if first and verb == "append" and not place:
                    by = -1
                if last and ((verb == "insert" and [number(p) for p in place] == [0]) or (verb == "appendleft")):
                    by = 1
        if by is None or not own:
            return None
        by %= len(own)
        return own[-by:] + own[:-by] if by else own

    def entered_again(self, name: str, entries: list[tuple[str, Any]], node: Any) -> list[Any]:
        """``state = {…}`` of a dict that is there, in a loop or a branch: all entries at once."""
        own = self.keys[name]
        if set(own) != {word for word, _ in entries}:
            raise self.scope.refuse(node, f"the dict {name} is made anew with other entries", "keep its keys")
        self.touched = True
        before: list[Any] = []
        names: list[Any] = []
        for word, value in entries:
            if not isinstance(value, cst.Name) and self.scope.is_array(value):
                made = fresh(self.taken, f"{own[word]}_next")
                before.append(self.named(made, value, node))
                value = cst.Name(made)
            names.append(value)
        targets = tuple_of([cst.Name(own[word]) for word, _ in entries])
        return [*before, self.assigned(targets, tuple_of(names), node)]

    def spread(self, node: cst.Call) -> cst.Call:
        """``step(s, *ks)`` with the arrays of the list one by one."""
        self.touched = True
        args: list[Any] = []
        for a in node.args:
            if a.star == "*" and dotted(a.value) in self.lists:
                args += [cst.Arg(cst.Name(n)) for n in self.lists[dotted(a.value)]]
            else:
                args.append(self.expression(a).with_changes(comma=cst.MaybeSentinel.DEFAULT))
        return node.with_changes(args=args, func=self.expression(node.func))

    def popped(self, node: cst.Call) -> cst.Name | None:
        """``bufs.pop(0)``; None for another call."""
        match node:
            case cst.Call(
                func=cst.Attribute(value=owner, attr=cst.Name(value="pop" | "popleft" as verb)), args=args
            ) if dotted(owner) in self.lists and not self.fixed:
                own = self.lists[dotted(owner)]
                at = number(self.expression(args[0].value)) if args else 0 if verb == "popleft" else -1
                if at is not None and -len(own) <= at < len(own):
                    self.touched = True
                    return cst.Name(own.pop(at))
        return None

    def entries(self, node: cst.BaseExpression) -> list[tuple[str, cst.BaseExpression]] | None:
        """The entries of a dict that a name stands for, too."""
        if dotted(node) in self.keys:
            return [(word, cst.Name(name)) for word, name in self.keys[dotted(node)].items()]
        return self.dictionary(node)

    def dictionary(self, node: cst.BaseExpression) -> list[tuple[str, cst.BaseExpression]] | None:
        """The entries of ``{"u": a}``, ``dict(u=a)`` or a comprehension over entries; None for anything else."""
        out: list[tuple[str, cst.BaseExpression]] = []
        match node:
            case cst.Dict(elements=parts):
                for e in parts:
                    more = self.entries(e.value) if isinstance(e, cst.StarredDictElement) else None
                    if more is not None:
                        out = [*{**dict(out), **dict(more)}.items()]
                        continue
                    if not isinstance(e, cst.DictElement) or not isinstance(e.key, cst.SimpleString):
                        return None
                    out = [*{**dict(out), str(e.key.evaluated_value): self.expression(e.value)}.items()]
            case cst.Call(func=cst.Name(value="dict"), args=[cst.Arg(value=first, star="", keyword=None), *rest]) if (
                (begun := self.entries(first)) is not None and all(a.keyword is not None for a in rest)
            ):  # fmt: skip
                named = {a.keyword.value: self.expression(a.value) for a in rest if a.keyword is not None}
                out = [*{**dict(begun), **named}.items()]
            case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right) if (
                one := self.entries(left)
            ) is not None and (two := self.entries(right)) is not None:
                out = [*{**dict(one), **dict(two)}.items()]
            case cst.Call(func=cst.Name(value="dict"), args=args) if all(a.keyword is not None for a in args):
                out = [(a.keyword.value, self.expression(a.value)) for a in args if a.keyword is not None]
            case cst.DictComp(
                key=key, value=value, for_in=cst.CompFor(target=target, iter=over, ifs=[], inner_for_in=None)
            ):
                rounds = self.rounds(over)
                if rounds is None or len(rounds) > MOST_ROUNDS:
                    return None
                for each in rounds:
                    outer = dict(self.constants)
                    self.constants.update(self.bound(target, each, node))
                    word = self.expression(key)
                    if isinstance(word, cst.SimpleString):
                        out.append((str(word.evaluated_value), self.expression(value)))
                    self.constants = outer
                if len(out) < len(rounds):
                    return None
            case _:
                return None
        return out if all(word.isidentifier() for word, _ in out) else None


def _targets(node: cst.CSTNode) -> list[cst.Name]:
    """The names that a statement assigns to."""
    match node:
        case cst.Assign(targets=targets):
            return [n for t in targets for n in all_of(cst.Name, t.target)]
        case cst.AugAssign(target=target) | cst.AnnAssign(target=target):
            return list(all_of(cst.Name, target))
    return []


def tuple_of(parts: list[Any]) -> cst.Tuple:
    """The tuple of some expressions."""
    return cst.Tuple([cst.Element(p) for p in parts])


def integer(whole: int) -> cst.BaseExpression:
    """A literal."""
    literal = cst.Integer(str(abs(whole)))
    return literal if whole >= 0 else cst.UnaryOperation(cst.Minus(), literal)


def literal(value: complex | float) -> cst.BaseExpression:
    """A number of the module as the text gives it."""
    if isinstance(value, int):
        return integer(value)
    made = cst.Float(repr(abs(value)))
    return made if not str(value).startswith("-") else cst.UnaryOperation(cst.Minus(), made)


def listed(scope: HostScope, name: str) -> list[cst.BaseExpression] | None:
    """The numbers of a tuple of the module, or of a list that nothing changes; None for anything else (``np.array``:
    what ``+`` and ``*`` do with it is something else)."""
    constant = scope.constants.get(name)
    if constant is None or len(constant.shape) != 1:
        return None
    for line in simple_statements(scope.source.tree.body):
        match line:
            case (
                cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=own))], value=value)
                | cst.AnnAssign(target=cst.Name(value=own), value=value)
            ) if own == name and isinstance(value, cst.Tuple | cst.List):
                if isinstance(value, cst.Tuple) or not _changed(scope.source.tree, name):
                    return [literal(v) for v in constant.values]
    return None


def _changed(tree: cst.Module, name: str) -> bool:
    """May something change the list ``name``?"""
    for node in walk(tree):
        match node:
            case cst.AssignTarget(target=cst.Subscript(value=owner)) | cst.Attribute(value=owner) if (
                dotted(owner) == name
            ):
                return True
            case cst.AugAssign(target=target) if name in (dotted(target), dotted(getattr(target, "value", target))):
                return True
            case cst.Del(target=target) if any(n.value == name for n in all_of(cst.Name, target)):
                return True
    return False


_TESTS: dict[type, Any] = {
    cst.Equal: lambda a, b: a == b, cst.NotEqual: lambda a, b: a != b, cst.LessThan: lambda a, b: a < b,
    cst.LessThanEqual: lambda a, b: a <= b, cst.GreaterThan: lambda a, b: a > b,
    cst.GreaterThanEqual: lambda a, b: a >= b,
}  # fmt: skip


def truth(node: cst.BaseExpression) -> bool | None:
    """Whether a condition on integer literals holds; None where that is not known."""
    match node:
        case cst.Comparison(left=left, comparisons=[cst.ComparisonTarget(operator=sign, comparator=right)]):
            a, b = _real(left), _real(right)
            return None if a is None or b is None or type(sign) not in _TESTS else _TESTS[type(sign)](a, b)
        case cst.UnaryOperation(operator=cst.Not(), expression=inner):
            found = truth(inner)
            return None if found is None else not found
    whole = number(node)
    return None if whole is None else bool(whole)


def _real(node: cst.BaseExpression) -> float | None:
    """The value of a literal, of an integer expression too."""
    match node:
        case cst.Float():
            return node.evaluated_value
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Float() as inner):
            return -inner.evaluated_value
    return number(node)


def number(node: cst.BaseExpression) -> int | None:
    """The value of an integer expression of literals."""
    match node:
        case cst.Integer():
            return node.evaluated_value
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            found = number(inner)
            return None if found is None else -found
        case cst.BinaryOperation(left=left, operator=sign, right=right):
            a, b = number(left), number(right)
            if a is None or b is None:
                return None
            match sign:
                case cst.Add():
                    return a + b
                case cst.Subtract():
                    return a - b
                case cst.Multiply():
                    return a * b
                case cst.Modulo() if b:
                    return a % b
                case cst.BitXor():
                    return a ^ b
                case cst.FloorDivide() if b:
                    return a // b
    return None


def _element(owner: cst.BaseExpression, at: int) -> cst.BaseExpression:
    return cst.Subscript(owner, [cst.SubscriptElement(cst.Index(integer(at)))])
