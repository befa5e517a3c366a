"""``match`` as a chain of ``if``, and a ``while`` whose test gives a name as a loop that its body leaves.

A pattern of numbers (``case 0``, ``case 1 | 2``, ``case Kind.WALL``) asks for equality, ``case _`` takes what is left,
``case (0, x)`` of a tuple that the text writes out asks element by element. Patterns that look at types or into
objects stay as they are, and are refused where they stand.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise.frontends.python.source import Source, placed, rebuilt, walk

_LOOPS = cst.For | cst.While | cst.FunctionDef


def as_branches(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function without ``match`` and without names that the test of a loop gives, as far as the above goes."""
    kinds = [n for n in walk(node.body) if isinstance(n, cst.Match | cst.While)]
    if not any(isinstance(n, cst.Match) or _names(n.test) for n in kinds):
        return node
    taken = {n.value for n in walk(parsed.tree) if isinstance(n, cst.Name)}

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        if not isinstance(inner, cst.IndentedBlock):
            return None
        lines: list[Any] = []
        for line in inner.body:
            match line:
                case cst.Match():
                    lines += _chain(parsed, line, taken) or [line]
                case cst.While(orelse=None) if _names(line.test) and isinstance(line.body, cst.IndentedBlock):
                    lines.append(_left_inside(parsed, line))
                case _:
                    lines.append(line)
        inside = [rebuilt(parsed, x, change) for x in lines]
        if len(inside) == len(inner.body) and all(a is b for a, b in zip(inside, inner.body, strict=True)):
            return None
        return inner.with_changes(body=inside)

    return rebuilt(parsed, node, change)  # type: ignore[no-any-return]


# --- while -----------------------------------------------------------------------------------


def _names(test: cst.BaseExpression) -> bool:
    return any(isinstance(n, cst.NamedExpr) for n in walk(test))


def _left_inside(parsed: Source, node: cst.While) -> cst.While:
    """``while True: if not test: break; …``; what is before the first operand that may be skipped is said before."""
    lines: list[Any] = []
    test = _said_before(parsed, node.test, lines)
    denied = placed(parsed, cst.UnaryOperation(cst.Not(), test), node.test)
    leave = placed(parsed, cst.SimpleStatementLine([placed(parsed, cst.Break(), node.test)]), node.test)
    body = placed(parsed, cst.IndentedBlock([leave]), node.test)
    lines.append(placed(parsed, cst.If(denied, body), node.test))
    always = placed(parsed, cst.Name("True"), node.test)
    inside = node.body.with_changes(body=[*lines, *node.body.body])  # type: ignore[attr-defined]
    return placed(parsed, node.with_changes(test=always, body=inside), node)  # type: ignore[no-any-return]


def _said_before(parsed: Source, test: cst.BaseExpression, lines: list[Any]) -> cst.BaseExpression:
    """The test with the name alone for the first name that it gives, where that is what is computed first."""
    match test:
        case cst.NamedExpr(target=cst.Name() as name, value=value):
            assign = placed(parsed, cst.Assign([cst.AssignTarget(name)], value), test)
            lines.append(placed(parsed, cst.SimpleStatementLine([assign]), test))
            return placed(parsed, cst.Name(name.value), test)  # type: ignore[no-any-return]
        case cst.Comparison(left=left) | cst.BooleanOperation(left=left) | cst.BinaryOperation(left=left):
            first = _said_before(parsed, left, lines)
            return test if first is left else placed(parsed, test.with_changes(left=first), test)
        case cst.UnaryOperation(expression=inner):
            first = _said_before(parsed, inner, lines)
            return test if first is inner else placed(parsed, test.with_changes(expression=first), test)
    return test


# --- match -----------------------------------------------------------------------------------


def _chain(parsed: Source, node: cst.Match, taken: set[str]) -> list[Any] | None:
    """The lines that do what a ``match`` does; None where a pattern is none of those above."""
    lines: list[Any] = []
    subject: Any = node.subject
    parts = [e.value for e in subject.elements] if isinstance(subject, cst.Tuple) else [subject]
    asked = [_asked(parsed, p, lines, taken) for p in parts]
    whole = asked if isinstance(subject, cst.Tuple) else asked[0]
    rest: Any = None
    for case in reversed(node.cases):
        named: list[tuple[str, cst.BaseExpression]] = []
        tests = _tests(parsed, case.pattern, whole, named)
        if tests is None or not isinstance(case.body, cst.IndentedBlock) or (named and case.guard is not None):
            return None
        tests += [case.guard] if case.guard is not None else []
        gives = [_assigned(parsed, n, v, case) for n, v in named]
        body = placed(parsed, case.body.with_changes(body=[*gives, *case.body.body]), case.body)
        if not tests:
            rest = placed(parsed, cst.Else(body), case)
            continue
        test = tests[0]
        for other in tests[1:]:
            test = placed(parsed, cst.BooleanOperation(test, cst.And(), other), case)
        rest = placed(parsed, cst.If(test, body, orelse=rest), case)
    if isinstance(rest, cst.Else):
        return [*lines, *rest.body.body]
    return [*lines, rest]


def _asked(parsed: Source, part: cst.BaseExpression, lines: list[Any], taken: set[str]) -> cst.BaseExpression:
    """A name for what is matched, which is computed once."""
    if isinstance(part, cst.Name):
        return part
    name = "case"
    while name in taken:
        name += "_"
    taken.add(name)
    lines.append(_assigned(parsed, name, part, part))
    return placed(parsed, cst.Name(name), part)  # type: ignore[no-any-return]


def _assigned(parsed: Source, name: str, value: cst.BaseExpression, at: cst.CSTNode) -> cst.SimpleStatementLine:
    target = placed(parsed, cst.Name(name), at)
    line = placed(parsed, cst.Assign([cst.AssignTarget(target)], value), at)
    return placed(parsed, cst.SimpleStatementLine([line]), at)  # type: ignore[no-any-return]


def _tests(
    parsed: Source, pattern: cst.MatchPattern, subject: Any, named: list[tuple[str, cst.BaseExpression]]
) -> list[Any] | None:
    """What a pattern asks, all of it; ``named``: the names that it gives."""
    match pattern:
        case cst.MatchAs(pattern=None, name=None):
            return []
        case cst.MatchAs(pattern=None, name=cst.Name(value=name)) if isinstance(subject, cst.BaseExpression):
            if not isinstance(subject, cst.Name) or subject.value != name:
                named.append((name, subject))
            return []
        case cst.MatchValue(value=value) if isinstance(subject, cst.BaseExpression):
            target = cst.ComparisonTarget(cst.Equal(), value)
            return [placed(parsed, cst.Comparison(subject, [target]), value)]
        case cst.MatchOr(patterns=patterns):
            ways = [_tests(parsed, p.pattern, subject, named) for p in patterns]
            if any(w is None or len(w) != 1 for w in ways) or named:
                return None
            test = ways[0][0]  # type: ignore[index]
            for way in ways[1:]:
                test = placed(parsed, cst.BooleanOperation(test, cst.Or(), way[0]), pattern)  # type: ignore[index]
            return [test]
        case cst.MatchList(patterns=inner) | cst.MatchTuple(patterns=inner) if isinstance(subject, list):
            if len(inner) != len(subject) or not all(isinstance(e, cst.MatchSequenceElement) for e in inner):
                return None
            out: list[Any] = []
            for element, own in zip(inner, subject, strict=True):
                tests = _tests(parsed, element.value, own, named)  # type: ignore[union-attr]
                if tests is None:
                    return None
                out += tests
            return out
    return None


__all__ = ["as_branches"]
