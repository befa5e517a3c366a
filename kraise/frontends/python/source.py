"""Text to a libcst tree with positions: syntax errors, depth, comments, spans."""

from __future__ import annotations

import io
import re
import symtable
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from kraise.diagnostics import Refused, Span, refuse

_DEEPEST = 8000  # Python frames while a tree is walked; well under what the C stack takes


@dataclass(frozen=True)
class Elsewhere:
    """The place of a node that stands in another file."""

    file: str
    start: Any
    end: Any


@dataclass(frozen=True)
class Source:
    """A parsed file: its tree, and the place of every node; ``moved`` are functions that stood in others,
    ``given`` parameters (of a function, by name) that are taken not to be ``None``."""

    file: str
    tree: cst.Module
    positions: dict
    moved: frozenset[str] = frozenset()
    given: frozenset[tuple[str, str]] = frozenset()

    def span(self, node: cst.CSTNode) -> Span | None:
        """The place of a node, lines and columns from 1; None for a node without a place."""
        place = self.positions.get(node)
        if place is None:
            return None
        start, end = place.start, place.end
        file = place.file if isinstance(place, Elsewhere) else self.file
        return Span(file, start.line, start.column + 1, end.line, end.column + 1)


@contextmanager
def deep() -> Iterator[None]:
    """A higher recursion limit while a tree is walked."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _DEEPEST))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def too_deep(file: str) -> Refused:
    """The refusal of a file whose expressions or blocks are nested beyond what can be walked."""
    return refuse(
        "KR105", "the code is nested too deeply to be read", Span(file, 1), "split the expression into several"
    )


class _Wrapper(MetadataWrapper):
    """Positions come of writing the tree out: libcst would visit it once more for providers of which there are none."""

    def visit_batched(self, visitors: Any, *around: Any, **more: Any) -> cst.CSTNode:
        return super().visit_batched(visitors, *around, **more) if visitors else self.module


def parse(text: str, file: str) -> Source:
    """The tree of a file. Refused: KR100 (syntax error, with its place) or KR105 (nested too deeply, NUL bytes)."""
    _ORDERS.clear()
    _KINDS.clear()
    _check_syntax(text, file)
    try:
        with deep():
            tree = cst.parse_module(text)
            return Source(file, tree, dict(_Wrapper(tree, unsafe_skip_copy=True).resolve(PositionProvider)))
    except cst.ParserSyntaxError as error:
        place = Span(file, error.raw_line, error.raw_column + 1)
        raise refuse("KR100", f"syntax error: {error.message}", place) from None
    except RecursionError:
        raise too_deep(file) from None
    except Exception as error:  # libcst's native parser reports some inputs with exceptions of its own
        raise refuse("KR100", f"syntax error: {error}", Span(file, 1)) from None


def _check_syntax(text: str, file: str) -> None:
    """Python's own parser first: clearer messages, and it is guarded against depth where libcst's is not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            symtable.symtable(text, file, "exec")  # as ast.parse, and names: a parameter twice, a global one assigned
    except SyntaxError as error:
        reason = error.msg or "invalid syntax"
        if "too many nested" in reason:
            raise too_deep(file) from None
        place = Span(file, error.lineno or 1, error.offset or 1)
        raise refuse("KR100", f"syntax error: {reason}", place) from None
    except (RecursionError, MemoryError):
        raise too_deep(file) from None
    except ValueError as error:  # NUL bytes
        raise refuse("KR105", f"not a Python source: {error}", Span(file, 1)) from None


# fields that hold layout only; libcst's own ``children`` visits them too, and takes ten times as long
_LAYOUT = re.compile(
    "whitespace|^(l|r)(par|bracket|brace)$|comma|semicolon|^equal$|^dot$|^(first_|second_)?colon$|lines|footer|header|"
    "indent|newline|^arrow|^slash"
)


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if not _LAYOUT.search(f.name))


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The nodes directly below a node, without whitespace, brackets and separators."""
    found: list[cst.CSTNode] = []
    for name in _fields(type(node)):
        value = getattr(node, name)
        kind: Any = type(value)
        if kind is list or kind is tuple:
            found.extend(value)
        elif _is_node(kind):
            found.append(value)
    return found


@cache
def _is_node(kind: type) -> bool:
    """(``isinstance`` of an abstract class, which libcst's are, takes longer than all else here.)"""
    return issubclass(kind, cst.CSTNode)


# what lies below the nodes of the trees that are read now; a list begins with its node, which keeps its number so
_ORDERS: dict[int, list[cst.CSTNode]] = {}
_KINDS: dict[int, dict[type, list[Any]]] = {}


def walk(node: cst.CSTNode, into: Callable[[cst.CSTNode], bool] | None = None) -> Iterator[cst.CSTNode]:
    """A node and all below it, in source order; children of a node that ``into`` denies are left out."""
    if into is not None:
        return _walk(node, into)
    order = _ORDERS.get(id(node))
    if order is None:
        order = _ORDERS[id(node)] = list(_walk(node, None))
    return iter(order)


def _walk(node: cst.CSTNode, into: Callable[[cst.CSTNode], bool] | None) -> Iterator[cst.CSTNode]:
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        if into is None or into(top):
            below = children(top)
            below.reverse()
            stack += below


def all_of(kind: Any, node: cst.CSTNode) -> list[Any]:
    """Of :func:`walk` the nodes of a kind (or of several: ``cst.For | cst.While``)."""
    kinds = _KINDS.get(id(node))
    if kinds is None:
        kinds = {}
        for n in walk(node):
            kinds.setdefault(type(n), []).append(n)
        _KINDS[id(node)] = kinds
    own = [k for k in kinds if _is_a(k, kind)]
    if len(own) < 2:
        return kinds[own[0]] if own else []
    return [n for n in walk(node) if type(n) in own]


@cache
def _is_a(own: type, kind: Any) -> bool:
    return issubclass(own, kind)


def rebuilt(source: Source, node: Any, change: Callable[[cst.CSTNode], cst.CSTNode | None]) -> Any:
    """A node in which ``change`` says what stands in place of a node (None: itself); new nodes keep the old places."""
    new = change(node)
    if new is None:
        changes: dict[str, Any] = {}
        kind: Any = type(node)
        for name in _fields(kind):
            value = getattr(node, name)
            if isinstance(value, cst.CSTNode):
                other: Any = rebuilt(source, value, change)
            elif isinstance(value, list | tuple):
                other = [rebuilt(source, v, change) if isinstance(v, cst.CSTNode) else v for v in value]
                other = value if all(a is b for a, b in zip(other, value, strict=True)) else other
            else:
                continue
            if other is not value:
                changes[name] = other
        new = node.with_changes(**changes) if changes else node
    return new if new is node else placed(source, new, node)


def placed(source: Source, new: Any, old: cst.CSTNode) -> Any:
    """A new node, at the place of an old one."""
    if old in source.positions:
        source.positions.setdefault(new, source.positions[old])
    return new


def only_operand(node: cst.BaseExpression) -> cst.BaseExpression:
    """``x`` of ``(2 * x + 1) ** 2``, whose other operands are numbers; anything else as it is."""
    match node:
        case cst.UnaryOperation(expression=inner):
            return only_operand(inner)
        case cst.BinaryOperation(left=left, right=right):
            numbers = [
                isinstance(s, cst.Integer | cst.Float)
                or (isinstance(s, cst.Call) and dotted(s.func).startswith("math."))
                for s in (left, right)
            ]
            if any(numbers):
                return only_operand(left if numbers[1] else right)
    return node


def subscripted(node: cst.BaseExpression) -> str:
    """``T`` of ``T[0][1]`` (and of ``T``), "" of what begins with no name."""
    while isinstance(node, cst.Subscript):
        node = node.value
    return node.value if isinstance(node, cst.Name) else ""


def complex_part(node: cst.BaseExpression) -> tuple[cst.BaseExpression, str]:
    """``a`` and "real" of ``a.real``, ``a`` and "" of anything else: to add to a part of a complex number is to add a
    number with that part only."""
    match node:
        case cst.Attribute(value=array, attr=cst.Name(value="real" | "imag" as part)):
            return array, part
    return node, ""


def choices(node: cst.BaseExpression) -> tuple[cst.BaseExpression, ...]:
    """``x`` and ``y`` of ``x if c else y``; anything else as it is."""
    if isinstance(node, cst.IfExp):
        return (*choices(node.body), *choices(node.orelse))
    return (node,)


def comments(text: str) -> tuple[tuple[int, str], ...]:
    """(line, text without the marker) of every comment of a source that parses."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return tuple((t.start[0], t.string.lstrip("#").strip()) for t in tokens if t.type == tokenize.COMMENT)


def dotted(node: cst.CSTNode) -> str:
    """``a.b.c`` of a name or a chain of attributes, "" for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    return ".".join([node.value, *reversed(parts)])


def integer_literal(node: cst.BaseExpression) -> int | None:
    """The number that ``3`` or ``-3`` is; None for anything else."""
    match node:
        case cst.Integer():
            return node.evaluated_value
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as inner):
            return -inner.evaluated_value
    return None
