"""Statements as text, broken over lines the way ``ruff format`` does it."""

from __future__ import annotations

from kraise.emit.text import python as py
from kraise.emit.text.doc import (
    SOFT,
    SPACE,
    Conditional,
    Doc,
    FitsExpanded,
    Group,
    IfBroken,
    Indent,
    Line,
    Printer,
    joined,
)
from kraise.emit.text.python import Atom, Attr, Bin, Call, Generator, IfExp, Py, Slice, Sub, Tup, Un

# where an expression stands: ENCLOSED in brackets, at the top (0), or under optional parentheses (their group's id)
ENCLOSED = -1


def statement(prefix: str, value: Py | None, indent: int, mark: str = "") -> str:
    """``prefix`` + value (+ a comment at the end of the last line) at column ``indent``."""
    printer = Printer()
    tail = f"  # {mark}" if mark else ""
    if value is None:
        return " " * indent + prefix + tail
    return printer.render([prefix, _root(printer, value), tail], indent)


def definition(name: str, parameters: tuple[str, ...], indent: int) -> str:
    """``def name(parameters):``."""
    inside = [*joined(list(parameters), [",", SPACE]), IfBroken(",") if len(parameters) > 1 else ""]
    head = Group(["(", Indent([SOFT, Group(inside)]), SOFT, ")"]) if parameters else "()"
    return Printer().render([f"def {name}", head, ":"], indent)


def _root(printer: Printer, value: Py) -> Doc:
    if isinstance(value, Tup):
        # a tuple that stands alone is written without parentheses while it fits
        if len(value.items) == 1:
            return [_doc(printer, value.items[0], ENCLOSED), ","]
        items = joined([_doc(printer, i, ENCLOSED) for i in value.items], [",", SPACE])
        return Group([IfBroken("("), Indent([SOFT, *items, IfBroken(",")]), SOFT, IfBroken(")")])
    if not _multiline(value):
        return _doc(printer, value, 0)
    if _may_omit_parentheses(value):
        name = printer.fresh()
        content = _doc(printer, value, name)
        return Group(
            [IfBroken("(", on=name), Indent([IfBroken(SOFT, on=name), content], name), IfBroken([SOFT, ")"], on=name)],
            name,
        )
    content = _doc(printer, value, ENCLOSED)
    return Group([IfBroken("("), Indent([SOFT, content]), SOFT, IfBroken(")")])


def _multiline(value: Py) -> bool:
    """Whether ruff puts the value in parentheses of its own when it does not fit."""
    match value:
        case Bin() | IfExp():
            return True
        case Un(op=op, operand=operand):
            return not py.unary_needs_parentheses(op, operand)
        case Attr() | Call() | Sub():
            return attributes_after_brackets(value) >= 2
        case _:
            return False


def attributes_after_brackets(value: Py) -> int:
    """How many attributes follow a bracket in a chain; from two on ruff would break the chain at its dots."""
    found = 0
    while True:
        match value:
            case Attr(value=inner):
                if not py.is_primary(inner):
                    return found + 1
                if isinstance(inner, Call | Sub):
                    found += 1
                value = inner
            case Call(func=inner) | Sub(value=inner):
                value = inner
            case _:
                return found


class _Scan:
    """ruff's look at an expression before it decides on optional parentheses."""

    def __init__(self) -> None:
        self.brackets = False
        self.highest = 99
        self.count = 0
        self.first: Py | None = None
        self.first_is_token = False
        self.last: Py | None = None
        self.wrapped: set[int] = set()

    def _operator(self, strength: int) -> None:
        if strength < self.highest:
            self.highest, self.count = strength, 1
        elif strength == self.highest:
            self.count += 1

    def visit(self, node: Py, wrapped: bool = False) -> None:
        self.last = node
        if wrapped:
            self.brackets = True
            self.wrapped.add(id(node))
        else:
            self.inside(node)
        if self.first is None and not self.first_is_token:
            self.first = node

    def inside(self, node: Py) -> None:
        match node:
            case Bin(op=op, left=left, right=right):
                self._operator(py.PRECEDENCE[op])
                self.visit(left, py.left_needs_parentheses(op, left))
                self.visit(right, py.right_needs_parentheses(op, right))
            case Un(op=op, operand=operand):
                if self.first is None:
                    self.first_is_token = True
                self.visit(operand, py.unary_needs_parentheses(op, operand))
            case Call(func=func):
                self.brackets = True
                self.visit(func, not py.is_primary(func))
                self.last = node
            case Sub(value=value):
                self.brackets = True
                self.visit(value, not py.is_primary(value))
                self.last = node
            case Attr(value=value):
                self.visit(value, not py.is_primary(value))
                if isinstance(value, Call | Sub | Tup) or not py.is_primary(value):
                    self._operator(14)
                self.last = node
            case Tup():
                self.brackets = True
            case IfExp(condition=condition, then=then, orelse=orelse):
                for _ in ("if", "else"):
                    self._operator(py.PRECEDENCE["if"])
                for part in (then, condition):
                    self.visit(part, isinstance(part, IfExp))
                self.visit(orelse)
            case _:
                pass

    def bracketed(self, node: Py | None) -> bool:
        if node is None:
            return False
        if id(node) in self.wrapped:
            return True
        return isinstance(node, Tup) or (isinstance(node, Call) and bool(node.args or node.keywords))


def _may_omit_parentheses(value: Py) -> bool:
    scan = _Scan()
    scan.inside(value)
    if not scan.brackets or scan.count > 1:
        return False
    if scan.highest == 99 or scan.highest == 14:
        return True
    return scan.bracketed(scan.last) or (not scan.first_is_token and scan.bracketed(scan.first))


def _brackets(printer: Printer, opening: str, content: Doc, closing: str, level: int) -> Doc:
    group = Group([opening, Indent([SOFT, content]), SOFT, closing])
    return FitsExpanded(group, level) if level > 0 else group


def _doc(printer: Printer, node: Py, level: int) -> Doc:
    match node:
        case Atom(text=text):
            return text
        case Slice():
            return _slice(printer, node)
        case Attr(value=value, name=name):
            return [_primary(printer, value, level), f".{name}"]
        case Call(func=func, args=args, keywords=keywords):
            head = _primary(printer, func, level)
            if not args and not keywords:
                return [head, "()"]
            parts: list[Doc] = [_doc(printer, a, ENCLOSED) for a in args]
            parts += [[f"{k}=", _keyword_value(printer, v)] for k, v in keywords]
            comma: Doc = IfBroken(",") if len(parts) > 1 else ""  # ruff adds none to a sole argument
            inside = Group([*joined(parts, [",", SPACE]), comma])
            return [head, _brackets(printer, "(", inside, ")", level)]
        case Sub(value=value, items=items):
            head = _primary(printer, value, level)
            entries = joined([_doc(printer, i, ENCLOSED) for i in items], [",", SPACE])
            content: Doc = Group([*entries, IfBroken(",")]) if len(items) > 1 else entries
            return [head, _brackets(printer, "[", content, "]", level)]
        case Tup(items=items):
            entries = joined([_doc(printer, i, ENCLOSED) for i in items], [",", SPACE])
            last: Doc = "," if len(items) == 1 else IfBroken(",")
            return _brackets(printer, "(", [*entries, last], ")", level)
        case Un(op=op, operand=operand):
            mark = "not " if op == "not" else op
            return [mark, _operand(printer, operand, py.unary_needs_parentheses(op, operand), level)]
        case Bin():
            return _group(_binary(printer, _flatten(node), level), level)
        case IfExp(condition=condition, then=then, orelse=orelse):
            gap = _gap(level)
            return _group(
                [
                    _operand(printer, then, isinstance(then, IfExp), level),
                    gap,
                    "if ",
                    _operand(printer, condition, isinstance(condition, IfExp), level),
                    gap,
                    "else ",
                    _doc(printer, orelse, level),
                ],
                level,
            )
        case Generator(element=element, clauses=clauses, listed=listed):
            lines: list[Doc] = [_doc(printer, element, ENCLOSED)]
            lines += [[f"for {name} in ", _doc(printer, values, ENCLOSED)] for name, values in clauses]
            inside = Group(joined(lines, [SPACE]))
            return Group(["[", Indent([SOFT, inside]), SOFT, "]"]) if listed else inside
    raise TypeError(node)


def _keyword_value(printer: Printer, value: Py) -> Doc:
    return _doc(printer, value, ENCLOSED)


def _slice(printer: Printer, node: Slice) -> Doc:
    parts: list[Doc] = []
    bounds = (node.lo, node.hi, node.step)
    blank = "" if all(b is None or py.simple_bound(b) for b in bounds) else " "
    if node.lo is not None:
        parts += [_doc(printer, node.lo, ENCLOSED), blank]
    parts.append(":")
    if node.hi is not None:
        parts += [blank, _doc(printer, node.hi, ENCLOSED)]
    if node.step is not None:
        parts += [blank if node.hi is not None else "", ":", blank, _doc(printer, node.step, ENCLOSED)]
    return parts


def _primary(printer: Printer, node: Py, level: int) -> Doc:
    return _operand(printer, node, not py.is_primary(node), level)


def _operand(printer: Printer, node: Py, parentheses: bool, level: int) -> Doc:
    if not parentheses:
        return _doc(printer, node, level)
    return _brackets(printer, "(", _doc(printer, node, ENCLOSED), ")", level)


def _group(content: Doc, level: int) -> Doc:
    if level == ENCLOSED:
        return Group(content)
    return Conditional(content, level) if level > 0 else content


def _gap(level: int) -> Doc:
    if level == ENCLOSED:
        return SPACE
    return IfBroken(Line(" "), " ", on=level) if level > 0 else " "


# a flattened chain: operands (node, whether in parentheses) and the operators between them
_Chain = tuple[list[tuple[Py, bool]], list[tuple[str, bool]]]


def _flatten(node: Bin) -> _Chain:
    operands: list[tuple[Py, bool]] = []
    operators: list[tuple[str, bool]] = []

    def walk(side: Py, parentheses: bool) -> None:
        if isinstance(side, Bin) and not parentheses:
            walk(side.left, py.left_needs_parentheses(side.op, side.left))
            operators.append((side.op, side.op == "**" and py.hugs_power(side.left, side.right)))
            walk(side.right, py.right_needs_parentheses(side.op, side.right))
        else:
            operands.append((side, parentheses))

    walk(node, False)
    return operands, operators


def _binary(printer: Printer, chain: _Chain, level: int) -> Doc:
    operands, operators = chain
    lowest = min(py.PRECEDENCE[op] for op, _ in operators)
    out: list[Doc] = []
    start = 0

    def part(lo: int, hi: int) -> Doc:
        if hi == lo:
            return _operand(printer, *operands[lo], level)
        return _group(_binary(printer, (operands[lo : hi + 1], operators[lo:hi]), level), level)

    for k, (op, hugged) in enumerate(operators):
        if py.PRECEDENCE[op] != lowest:
            continue
        out.append(part(start, k))
        out += [op] if hugged else [_gap(level), op, " "]
        start = k + 1
    out.append(part(start, len(operators)))
    return out
