"""Lists of plain functions that a comprehension makes, or one loop fills, as arrays that a loop fills.

``v = np.array([f(x[i]) for i in range(n)])`` is an array of ``n`` elements and a loop that stores them; so is ``out``
of ``out = []``, ``for v in x: …; out.append(e)``. A list that stays one (``w = [1 / (k + 1) for k in range(5)]``) is
written as ``[0] * 5`` and the loop: :mod:`number_lists` sees whether what is done with it is what arrays do, too.

Side conditions, checked: the loop runs over a range in steps of one, or over a name; each of its rounds appends once,
whatever happens; nothing else is done with the list before the loop ends; what becomes an array by ``np.array`` is
used in no other way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.number_lists import CONCEPT, MAKES
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt, walk
from kraise.ir.host_names import fresh

_ARRAYS = ("numpy.array", "numpy.asarray")


def as_loops(parsed: Source, node: cst.FunctionDef, imports: Imports) -> cst.FunctionDef:
    """The function with such lists so written; itself where it has none."""
    if not any(
        isinstance(n, cst.ListComp) or (isinstance(n, cst.Attribute) and n.attr.value == "append")
        for n in walk(node.body)
    ):
        return node
    return _Lists(parsed, imports, node).function(node)


@dataclass(frozen=True)
class _Rounds:
    """A loop: how many rounds it has, as text, the number of a round, and what runs over it."""

    count: str
    at: str
    target: cst.BaseExpression
    over: cst.BaseExpression


class _Lists:
    def __init__(self, parsed: Source, imports: Imports, node: cst.FunctionDef):
        self.parsed, self.imports, self.node = parsed, imports, node
        self.taken = {n.value for n in walk(parsed.tree) if isinstance(n, cst.Name)}

    def function(self, node: cst.FunctionDef) -> cst.FunctionDef:
        new = node.with_changes(body=self.block(node.body))
        return placed(self.parsed, new, node)  # type: ignore[no-any-return]

    # --- comprehensions ----------------------------------------------------------------------

    def block(self, suite: Any) -> Any:
        """A block in which the statements have their loops before (or after) them."""
        if not isinstance(suite, cst.IndentedBlock):
            return suite
        lines: list[Any] = []
        for line in suite.body:
            if isinstance(line, cst.SimpleStatementLine):
                lines += self.line(line)
            elif isinstance(line, cst.For | cst.While | cst.If | cst.Else):
                lines.append(self.compound(line))
            else:
                lines.append(line)
        lines = self.appended(lines)
        return placed(self.parsed, suite.with_changes(body=lines), suite)

    def compound(self, node: Any) -> Any:
        changes = {"body": self.block(node.body)}
        if getattr(node, "orelse", None) is not None:
            changes["orelse"] = self.compound(node.orelse)
        return placed(self.parsed, node.with_changes(**changes), node)

    def line(self, line: cst.SimpleStatementLine) -> list[Any]:
        """A statement, with the loops that its comprehensions become."""
        if len(line.body) != 1 or not any(isinstance(n, cst.ListComp) for n in walk(line)):
            return [line]
        match line.body[0]:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.ListComp() as made):
                return self.filled(name, made, line, None) or [line]
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as call) if (
                self.is_array(call)
            ):
                return self.filled(name, call.args[0].value, line, call) or [line]
        before: list[Any] = []

        def change(inner: cst.CSTNode) -> cst.CSTNode | None:
            match inner:
                case cst.IfExp() | cst.BooleanOperation() | cst.Lambda() | cst.GeneratorExp():
                    return inner
                case cst.Call() if self.is_array(inner):
                    own = fresh(self.taken, "made")
                    self.taken.add(own)
                    lines = self.filled(own, inner.args[0].value, line, inner)
                    before.extend(lines or ())
                    return placed(self.parsed, cst.Name(own), inner) if lines else inner  # type: ignore[no-any-return]
            return None

        new = rebuilt(self.parsed, line, change)
        return [*before, new]

    def is_array(self, call: cst.CSTNode) -> bool:
        """``np.array([… for …])``, with a dtype or without."""
        match call:
            case cst.Call(func=func, args=[cst.Arg(keyword=None, value=cst.ListComp()), *rest]):
                return self.imports.qualified(dotted(func)) in _ARRAYS and all(
                    a.keyword is not None and a.keyword.value == "dtype" for a in rest
                )
        return False

    def filled(self, name: str, made: Any, line: cst.CSTNode, call: Any) -> list[Any] | None:
        """The array (of ``call``) or the list of a comprehension, and the loops that fill it."""
        counts: list[str] = []
        places: list[str] = []
        loops: list[_Rounds] = []
        element: Any = made
        renamed: dict[str, str] = {}
        while isinstance(element, cst.ListComp):
            each = element.for_in
            rounds = None
            if not (each.ifs or each.inner_for_in or each.asynchronous) and isinstance(each.target, cst.Name):
                rounds = self.rounds(each.target, each.iter)
            if rounds is None or any(n in renamed for n in _names(each.iter)):
                return None
            own = dotted(each.target)
            others = sum(n.value == own for n in all_of(cst.Name, self.node))
            if others > sum(n.value == own for n in all_of(cst.Name, element)):  # a comprehension's names are its own
                new = fresh(self.taken, own)
                self.taken.add(new)
                renamed[own] = new
            counts.append(rounds.count)
            places.append(rounds.at)
            loops.append(rounds)
            element = element.elt
        if name in _names(made) or all_of(cst.List | cst.Tuple, element):  # rows
            return None

        def change(inner: cst.CSTNode) -> cst.CSTNode | None:
            if isinstance(inner, cst.Name) and inner.value in renamed:
                return inner.with_changes(value=renamed[inner.value])
            return None

        def text(expression: str) -> str:
            return str(cst.Module([]).code_for_node(rebuilt(self.parsed, cst.parse_expression(expression), change)))

        body: Any = cst.parse_statement(f"{name}[{', '.join(map(text, places))}] = 0\n")
        if call is None and len(places) > 1:
            body = cst.parse_statement(f"{name}{''.join(f'[{text(p)}]' for p in places)} = 0\n")
        value = rebuilt(self.parsed, element, change)
        body = body.with_deep_changes(body.body[0], value=value)
        for rounds in reversed(loops):
            loop = cst.For(rebuilt(self.parsed, rounds.target, change), rounds.over, cst.IndentedBlock([body]))
            body = self.located(loop, line)
        return [self.located(self.allocation(name, counts, call), line), body]

    def allocation(self, name: str, counts: list[str], call: Any) -> Any:
        """``name = np.zeros(…, dtype)`` of an array, ``[0] * n`` (within comprehensions) of a list."""
        if call is None:
            made = "0"
            for k, count in enumerate(reversed(counts)):
                made = f"[0] * ({count})" if k == 0 else f"[{made} for _ in range({count})]"
            return cst.parse_statement(f"{name} = {made}")
        if len(call.args) > 1:
            module = dotted(call.func).rpartition(".")[0]
            line: Any = cst.parse_statement(f"{name} = {module}.zeros(({', '.join(counts)},), dtype=0)")
            return line.with_deep_changes(line.body[0].value.args[1], value=call.args[1].value)
        self.imports.bound[MAKES] = CONCEPT
        return cst.parse_statement(f"{name} = {MAKES}(({', '.join(counts)},), 0)")

    def rounds(self, target: Any, over: cst.BaseExpression) -> _Rounds | None:
        """The rounds of a loop over a range in steps of one, or over a name."""
        match over:
            case cst.Call(func=cst.Name(value="range" | "prange"), args=[one]) if _plain(one.value):
                return _Rounds(self.code(one.value), dotted(target), target, over) if dotted(target) else None
            case cst.Call(func=cst.Name(value="range" | "prange"), args=[first, last]) if (
                dotted(target) and _plain(first.value) and _plain(last.value)
            ):
                a, b = self.code(first.value), self.code(last.value)
                return _Rounds(f"max(({b}) - ({a}), 0)", f"{dotted(target)} - ({a})", target, over)
            case cst.Call(func=cst.Name(value="enumerate"), args=[cst.Arg(value=cst.Name(value=array))]) if isinstance(
                target, cst.Tuple
            ) and isinstance(target.elements[0].value, cst.Name):
                return _Rounds(f"len({array})", target.elements[0].value.value, target, over)
            case cst.Name(value=array) if dotted(target):
                own = fresh(self.taken, "place")
                self.taken.add(own)
                both = cst.Tuple([cst.Element(cst.Name(own)), cst.Element(target)])
                counted = cst.Call(cst.Name("enumerate"), [cst.Arg(over)])
                return _Rounds(f"len({array})", own, both, self.located(counted, over))
        return None

    # --- lists that grow ---------------------------------------------------------------------

    def appended(self, lines: list[Any]) -> list[Any]:
        """The statements of a block with the lists that one of its loops fills."""
        for at, line in enumerate(lines):
            name, first = _started(line)
            if not name:
                continue
            for later, loop in enumerate(lines[at + 1 :], at + 1):
                if name not in _names(loop):
                    continue
                found = self.grown(name, first, loop) if isinstance(loop, cst.For) else None
                if found is not None and (rest := self.arrays(name, lines[later + 1 :])) is not None:
                    listed, after = rest
                    own = lines[:at] + lines[at + 1 : later]
                    return self.appended([*own, *found(listed), *after])
                break
        return lines

    def grown(self, name: str, first: list[Any], loop: cst.For) -> Any:
        """What makes the list and fills it, told whether it stays a list; None where the loop does more with it."""
        rounds = self.rounds(loop.target, loop.iter)
        if rounds is None or loop.orelse is not None or not isinstance(loop.body, cst.IndentedBlock):
            return None
        changed = {n for t in all_of(cst.AssignTarget | cst.AugAssign, loop.body) for n in _names(t.target)}
        inside = sum(n.value == name for n in all_of(cst.Name, loop))
        places = [k for k, line in enumerate(loop.body.body) if _appends(line, name)]
        leaves = [n for n in walk(loop.body) if isinstance(n, cst.Break | cst.Continue | cst.Return)]
        bounds = {n.value for n in all_of(cst.Name, loop.iter)} | _names(loop.target)
        if len(places) != 1 or inside != 1 or leaves or changed & bounds:
            return None
        offset = f"{rounds.at} + {len(first)}" if first else rounds.at
        store: Any = cst.parse_statement(f"{name}[{offset}] = 0")
        line: Any = loop.body.body[places[0]]
        store = self.located(store.with_deep_changes(store.body[0], value=line.body[0].value.args[0].value), line)
        body = [*loop.body.body[: places[0]], store, *loop.body.body[places[0] + 1 :]]
        new = loop.with_changes(target=rounds.target, iter=rounds.over, body=loop.body.with_changes(body=body))
        count = f"{rounds.count} + {len(first)}" if first else rounds.count

        def written(listed: bool) -> list[Any]:
            made = self.allocation(name, [count], None if listed else cst.Call(cst.Name(name)))
            begun: list[Any] = [self.located(made, loop)]
            for k, value in enumerate(first):
                cell: Any = cst.parse_statement(f"{name}[{k}] = 0")
                begun.append(self.located(cell.with_deep_changes(cell.body[0], value=value), loop))
            return [*begun, placed(self.parsed, new, loop)]

        return written

    def arrays(self, name: str, lines: list[Any]) -> tuple[bool, list[Any]] | None:
        """(whether the list stays one, what follows with ``name`` for ``np.array(name)``); None where both happen."""
        made: list[cst.CSTNode] = []
        for line in lines:
            for call in all_of(cst.Call, line):
                match call:
                    case cst.Call(func=func, args=[cst.Arg(keyword=None, value=cst.Name(value=own))]) if own == name:
                        made += [call] if self.imports.qualified(dotted(func)) in _ARRAYS else []
        uses = sum(n.value == name for n in all_of(cst.Name, self.node.body))
        if not made:
            return True, lines
        if uses != len(made) + 2 or len(made) > 1:  # where it starts, and grows
            return None

        def change(inner: cst.CSTNode) -> cst.CSTNode | None:
            if inner is made[0]:
                return cst.Name(name)
            match inner:
                case cst.Assign(value=value) if value is made[0]:  # an array of another name
                    return inner.with_changes(value=cst.Call(cst.Attribute(cst.Name(name), cst.Name("copy")), []))
            return None

        return False, [rebuilt(self.parsed, line, change) for line in lines]

    def code(self, node: cst.BaseExpression) -> str:
        return self.parsed.tree.code_for_node(node)

    def located(self, new: Any, old: cst.CSTNode) -> Any:
        for inner in walk(new):
            placed(self.parsed, inner, old)
        return new


def _names(node: cst.CSTNode) -> set[str]:
    return {n.value for n in all_of(cst.Name, node)}


def _plain(node: cst.BaseExpression) -> bool:
    """Is a bound one of names, numbers, lengths and their sums? It is written twice."""
    calls = all_of(cst.Call, node)
    return all(dotted(c.func) in ("len", "min", "max") for c in calls) and not all_of(cst.ListComp, node)


def _started(line: Any) -> tuple[str, list[Any]]:
    """The name of ``out = []`` or ``out = [x0]``, with its elements; "" for anything else."""
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.List(elements=first))]
        ) if len(first) < 3 and not any(isinstance(e, cst.StarredElement) for e in first):
            return name, [e.value for e in first]
    return "", []


def _appends(line: Any, name: str) -> bool:
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Expr(value=cst.Call(func=cst.Attribute(value=cst.Name(value=own), attr=attr), args=[one]))]
        ):
            return own == name and attr.value == "append" and one.keyword is None
    return False


__all__ = ["as_loops"]
