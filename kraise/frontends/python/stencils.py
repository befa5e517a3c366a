"""Functions that ``numba.stencil`` decorates, as the loops that they stand for.

``@stencil def k(a): return a[-1] + a[1]`` is ``def k(a)`` that makes an array of the shape of ``a``, stores the
expression with ``a[i - 1] + a[i + 1]`` for each ``i`` whose neighbours exist, and leaves ``cval`` (0) at the edges
(numba's manual, "Using the @stencil decorator"). The neighbourhood is that of the constant subscripts, or is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.number_lists import CONCEPT, MAKES
from kraise.frontends.python.source import Source, all_of, dotted, integer_literal, placed, rebuilt, walk
from kraise.ir.host_names import fresh

NAME = "numba.stencil"


@dataclass(frozen=True)
class _Options:
    cval: cst.BaseExpression
    around: tuple[tuple[int, int], ...] | None
    absolute: frozenset[str]  # parameters that are subscripted as they stand


def decorator(node: cst.FunctionDef, imports: Imports) -> cst.BaseExpression | None:
    """The decorator that makes a stencil of a function; None if there is none."""
    for d in node.decorators:
        callee = d.decorator.func if isinstance(d.decorator, cst.Call) else d.decorator
        if imports.qualified(dotted(callee)) == NAME:
            return d.decorator
    return None


def as_loops(parsed: Source, node: cst.FunctionDef, imports: Imports) -> cst.FunctionDef:
    """The function with its loops; itself where it is no stencil, or one that is not read (and refused later)."""
    how = decorator(node, imports)
    options = None if how is None or len(node.decorators) > 1 else _options(how)
    ends = all_of(cst.Return, node.body)
    lines = list(node.body.body) if isinstance(node.body, cst.IndentedBlock) else []
    last = lines[-1].body[0] if lines and isinstance(lines[-1], cst.SimpleStatementLine) else None
    if options is None or not isinstance(last, cst.Return) or ends != [last] or last.value is None:
        return node
    params = [p.name.value for p in node.params.params]
    arrays = [p for p in params if p not in options.absolute]
    uses = [s for s in all_of(cst.Subscript, node.body) if isinstance(s.value, cst.Name) and s.value.value in arrays]
    places = [_parts(s) for s in uses]
    ranks = {len(p) for p in places if p is not None}
    bare = sum(isinstance(n, cst.Name) and n.value == params[0] for n in walk(node.body)) if params else 0
    first = sum(dotted(s.value) == params[0] for s in uses) if params else 0
    if None in places or len(ranks) != 1 or not first or bare != first:
        return node  # a use of the array that is no element
    (rank,) = ranks
    around = options.around
    if around is None:
        found = [[integer_literal(p) for p in part or ()] for part in places]
        if any(n is None for part in found for n in part):
            return node
        each = [[part[axis] or 0 for part in found] for axis in range(rank)]
        around = tuple((min(0, *e, 0), max(0, *e, 0)) for e in each)
    if len(around) != rank:
        return node
    return _loops(parsed, node, imports, options, params[0], arrays, around, lines)


def _loops(
    parsed: Source,
    node: cst.FunctionDef,
    imports: Imports,
    options: _Options,
    first: str,
    arrays: list[str],
    around: tuple[tuple[int, int], ...],
    lines: list[Any],
) -> cst.FunctionDef:
    taken = {n.value for n in walk(parsed.tree) if isinstance(n, cst.Name)}
    names = []
    for wish in (f"{node.name.value}_out", *"ijkmp"[: len(around)]):
        names.append(fresh(taken, wish))
        taken.add(names[-1])
    out, *indices = names

    def change(inner: cst.CSTNode) -> cst.CSTNode | None:
        match inner:
            case cst.Subscript(value=cst.Name(value=name)) if name in arrays:
                parts = [rebuilt(parsed, p, change) for p in _parts(inner) or ()]
                moved = [_moved(i, p) for i, p in zip(indices, parts, strict=True)]
                return inner.with_changes(slice=[cst.SubscriptElement(cst.Index(m)) for m in moved])
            case cst.Return(value=value) if value is not None:
                cell = cst.Subscript(cst.Name(out), [cst.SubscriptElement(cst.Index(cst.Name(i))) for i in indices])
                return cst.Assign([cst.AssignTarget(cell)], rebuilt(parsed, value, change))
        return None

    doc = lines[:1] if isinstance(lines[0], cst.SimpleStatementLine) and isinstance(lines[0].body[0], cst.Expr) else []
    body: list[Any] = [rebuilt(parsed, line, change) for line in lines[len(doc) :]]
    for axis in reversed(range(len(around))):
        low, high = around[axis]
        stop = f"{first}.shape[{axis}]" + (f" - {high}" if high > 0 else "")
        loop: Any = cst.parse_statement(f"for {indices[axis]} in range({max(0, -low)}, {stop}):\n    pass\n")
        body = [placed(parsed, loop.with_changes(body=cst.IndentedBlock(body)), node)]
    imports.bound[MAKES] = CONCEPT
    extents = "".join(f"{first}.shape[{axis}], " for axis in range(len(around)))
    made: Any = cst.parse_statement(f"{out} = {MAKES}(({extents}), 0)")
    made = made.with_deep_changes(made.body[0].value.args[1], value=options.cval)
    end = cst.parse_statement(f"return {out}")
    for line in (made, end):
        for inner in walk(line):
            placed(parsed, inner, node)
    block = cst.IndentedBlock([*doc, made, *body, end])
    return placed(parsed, node.with_changes(decorators=[], body=block), node)  # type: ignore[no-any-return]


def _options(how: cst.BaseExpression) -> _Options | None:
    """What the decorator says; None where it says more than is read."""
    cval: cst.BaseExpression = cst.Integer("0")
    around, absolute = None, frozenset[str]()
    for a in how.args if isinstance(how, cst.Call) else ():
        match a:
            case cst.Arg(keyword=None, value=cst.SimpleString(value=mode)) if mode.strip("\"'") == "constant":
                pass
            case cst.Arg(keyword=cst.Name(value="cval"), value=value):
                cval = value
            case cst.Arg(keyword=cst.Name(value="neighborhood"), value=cst.Tuple(elements=pairs)):
                listed = [p.value.elements for p in pairs if isinstance(p.value, cst.Tuple)]
                each = [[integer_literal(n.value) for n in ends] for ends in listed]
                if len(each) < len(pairs) or any(len(e) != 2 or None in e for e in each):
                    return None
                around = tuple((e[0] or 0, e[1] or 0) for e in each)
            case cst.Arg(keyword=cst.Name(value="standard_indexing"), value=cst.Tuple() | cst.List() as names):
                words = [e.value for e in names.elements]
                if not all(isinstance(w, cst.SimpleString) for w in words):
                    return None
                absolute = frozenset(str(w.evaluated_value) for w in words if isinstance(w, cst.SimpleString))
            case _:
                return None
    return _Options(cval, around, absolute)


def _parts(node: cst.Subscript) -> list[cst.BaseExpression] | None:
    """The numbers in a pair of brackets; None where there are slices."""
    if not all(isinstance(e.slice, cst.Index) for e in node.slice):
        return None
    found = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
    return [e.value for e in found[0].elements] if len(found) == 1 and isinstance(found[0], cst.Tuple) else found


def _moved(index: str, by: cst.BaseExpression) -> cst.BaseExpression:
    number = integer_literal(by)
    if number is None:
        by = by.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return cst.BinaryOperation(cst.Name(index), cst.Add(), by)
    if number == 0:
        return cst.Name(index)
    sign = cst.Add() if number > 0 else cst.Subtract()
    return cst.BinaryOperation(cst.Name(index), sign, cst.Integer(str(abs(number))))


__all__ = ["as_loops", "decorator"]
