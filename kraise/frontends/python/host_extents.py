"""Pieces of shapes and tuples of Python host functions, and statements with several targets, as nodes."""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python.host_rounds import integer, number
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import all_of, dotted, placed, rebuilt
from kraise.ir.host_names import fresh


def single_targets(scope: HostScope, node: cst.FunctionDef) -> cst.FunctionDef:
    """``a, b = shape = u.shape`` as two statements: the name first, then what else it is given to; so is
    ``grid, block = (gx, gy), (16, 16)``, where no side needs what another had before."""

    def change(line: cst.CSTNode) -> cst.CSTNode | None:
        if not isinstance(line, cst.SimpleStatementLine):
            return None
        out: list[Any] = []
        for small in line.body:
            names = (
                [t for t in small.targets if isinstance(t.target, cst.Name)] if isinstance(small, cst.Assign) else []
            )
            if (several := _results_apart(scope, node, small)) is not None:
                out += [placed(scope.source, p, small) for p in several]
                continue
            if isinstance(small, cst.Assign) and len(small.targets) > 1 and not names:  # b[0] = b[-1] = 1.0
                value = small.value
                if not isinstance(value, cst.Name | cst.Integer | cst.Float):
                    value = cst.Name(fresh({n.value for n in all_of(cst.Name, node)}, "value"))
                    out.append(placed(scope.source, cst.Assign([cst.AssignTarget(value)], small.value), small))
                each = [cst.Assign([t], value.deep_clone()) for t in small.targets]
                out += [placed(scope.source, a, small) for a in each]
                continue
            if parts := _tuples_apart(small):
                out += [placed(scope.source, p, small) for p in parts]
                continue
            if not isinstance(small, cst.Assign) or len(small.targets) < 2 or not names:
                out.append(small)
                continue
            first = names[-1]
            simple = isinstance(small.value, cst.Name | cst.Integer | cst.Float)
            out.append(placed(scope.source, cst.Assign([first], small.value), small))
            given: Any = small.value if simple else first.target
            rest = [cst.Assign([t], given.deep_clone()) for t in small.targets if t is not first]
            out += [placed(scope.source, r, small) for r in rest]
        same = len(out) == len(line.body) and all(a is b for a, b in zip(out, line.body, strict=True))
        return None if same else line.with_changes(body=out or [cst.Pass()])

    new: cst.FunctionDef = rebuilt(scope.source, node, change)
    if new is not node:
        placed(scope.source, new.name, node.name)
    return new


def _results_apart(scope: HostScope, function: cst.FunctionDef, node: cst.CSTNode) -> list[cst.Assign] | None:
    """``ky, kx = np.meshgrid(a, b)`` as ``ky = np.meshgrid(a, b)[0]`` and so on, without the results that nobody reads;
    None for another statement."""
    match node:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple(elements=targets))], value=cst.Call(func=func) as value
        ) if f"{scope.imports.qualified(dotted(func))}#0" in dialects.host_rows("python"):
            reads = [n.value for n in all_of(cst.Name, function)]
            at = [cst.SubscriptElement(cst.Index(integer(n))) for n in range(len(targets))]
            pairs = [(t.value, cst.Subscript(value.deep_clone(), [a])) for t, a in zip(targets, at, strict=True)]
            for target, one in pairs:
                placed(scope.source, one, value)
                placed(scope.source, one.value, value)
                if dotted(target) not in reads:
                    return None
            own = [dotted(t) for t, _ in pairs]
            read = {n for n in own if n != "_" and reads.count(n) > own.count(n)}
            kept = [(t, one) for t, one in pairs if scope.one_of_several(one) or dotted(t) in read]
            for target, one in kept:
                if not scope.one_of_several(one):
                    reason = f"{dotted(target)}, one of the results of {scope.text(func)}, is not known"
                    raise scope.refuse(node, reason, "use the others only", "KR213")
            return [cst.Assign([cst.AssignTarget(t)], one) for t, one in kept]  # type: ignore[arg-type]
    return None


def _tuples_apart(node: cst.CSTNode) -> list[cst.Assign]:
    """An assignment of several values, a tuple among them, to names that none of the values reads."""
    match node:
        case cst.Assign(
            targets=[cst.AssignTarget(target=cst.Tuple(elements=targets))], value=cst.Tuple(elements=values)
        ) if len(targets) == len(values) and any(_is_tuple(v.value) for v in values):
            names = [dotted(t.value) for t in targets]
            read = {n.value for v in values for n in all_of(cst.Name, v)}
            plain = all(isinstance(e, cst.Element) for e in (*targets, *values))
            if plain and all(isinstance(t.value, cst.Name) for t in targets) and not read & set(names):
                return [
                    cst.Assign([cst.AssignTarget(cst.Name(t))], v.value) for t, v in zip(names, values, strict=True)
                ]
    return []


def _is_tuple(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Tuple) or (isinstance(node, cst.Call) and dotted(node.func) == "tuple")


def some(shape: cst.Attribute, piece: cst.Slice) -> list[cst.BaseExpression] | None:
    """The extents of ``x.shape[:2]`` and ``x.shape[-2:]``; None where how many they are is not known."""
    low, high = (None if e is None else number(e) for e in (piece.lower, piece.upper))
    unknown = (piece.lower is not None and low is None) or (piece.upper is not None and high is None)
    if piece.step is not None or unknown:
        return None
    if high is not None and high >= 0 and (low or 0) >= 0:
        return [extent(shape, n) for n in range(low or 0, high)]
    if low is not None and low < 0 and (high is None or low < high < 0):
        return [extent(shape, n) for n in range(low, high or 0)]
    return None


def bound(target: cst.BaseExpression, value: cst.BaseExpression) -> list[tuple[str, cst.BaseExpression]] | None:
    """The names of a comprehension's target with their values in a round."""
    match target, value:
        case cst.Name(value=name), _:
            return [(name, value)]
        case cst.Tuple(elements=names), cst.Tuple(elements=parts) if len(names) == len(parts):
            pairs = [bound(n.value, p.value) for n, p in zip(names, parts, strict=True)]
            return None if None in pairs else [b for p in pairs for b in p or ()]
    return None


def extent(shape: cst.Attribute, at: int) -> cst.BaseExpression:
    """``u.shape[at]``."""
    return cst.Subscript(shape, [cst.SubscriptElement(cst.Index(integer(at)))])


def bracketed(node: cst.BaseExpression) -> cst.BaseExpression:
    """An operand that keeps its place in a product."""
    if isinstance(node, cst.BinaryOperation | cst.IfExp | cst.UnaryOperation | cst.Comparison) and not node.lpar:
        return node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
    return node
