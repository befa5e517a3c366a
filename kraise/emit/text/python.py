"""Python expressions as trees: what the emitter builds, with precedence as data.

``flat(node)`` is the text on one line; :mod:`kraise.emit.text.layout_text` breaks it over several as ruff does.
Parentheses appear where :data:`PRECEDENCE` demands them and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

# binding strength, higher binds tighter; operators of one row associate to the left (``**`` to the right)
PRECEDENCE = {
    "lambda": 0,
    "if": 1,
    "or": 2,
    "and": 3,
    "not": 4,
    "<": 5,
    "<=": 5,
    ">": 5,
    ">=": 5,
    "==": 5,
    "!=": 5,
    "is not": 5,
    "is": 5,
    "in": 5,
    "|": 6,
    "^": 7,
    "&": 8,
    "<<": 9,
    ">>": 9,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "//": 11,
    "%": 11,
    "@": 11,
    "unary": 12,
    "**": 13,
    "primary": 15,
}
COMPARISONS = ("is", "in", "is not", "<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Atom:
    """A name, a dotted name or a literal."""

    text: str


@dataclass(frozen=True)
class Attr:
    value: Py
    name: str


@dataclass(frozen=True)
class Call:
    func: Py
    args: tuple[Py, ...] = ()
    keywords: tuple[tuple[str, Py], ...] = ()


@dataclass(frozen=True)
class Sub:
    value: Py
    items: tuple[Py, ...]


@dataclass(frozen=True)
class Slice:
    lo: Py | None = None
    hi: Py | None = None
    step: Py | None = None


@dataclass(frozen=True)
class Bin:
    op: str
    left: Py
    right: Py


@dataclass(frozen=True)
class Un:
    op: str
    operand: Py


@dataclass(frozen=True)
class Tup:
    items: tuple[Py, ...]


@dataclass(frozen=True)
class IfExp:
    condition: Py
    then: Py
    orelse: Py


@dataclass(frozen=True)
class Generator:
    """``element for name in values for …``, the one argument of a call; ``listed`` in brackets."""

    element: Py
    clauses: tuple[tuple[str, Py], ...]
    listed: bool = False


Py = Atom | Attr | Call | Sub | Slice | Bin | Un | Tup | IfExp | Generator

ALL = Slice()
NONE = Atom("None")


def cut(name: str, a: Py, b: Py) -> Py:
    """C's quotient of numbers the first of which may be negative, or what it leaves over: cut towards zero."""
    quotient = call("int", Bin("/", a, b))
    return quotient if name == "tdiv" else Bin("-", a, Bin("*", quotient, b))


def infix(op: str, left: Py, right: Py) -> Bin:
    """An operation of two values; what is less than zero is taken away: of numbers without a sign there is none."""
    if op == "+" and isinstance(right, Un) and right.op == "-":
        return Bin("-", left, right.operand)
    return Bin(op, left, right)


def as_floats(value: Py) -> Py:
    """A value as floats if it holds integers, itself if not: ``1.0 * a``, of a product the first factor."""
    if isinstance(value, Bin) and value.op == "*":
        return Bin("*", as_floats(value.left), value.right)
    return Bin("*", number(1.0), value)


def number(value: bool | int | float | complex) -> Py:
    """A literal; negative ones are a minus sign applied to a literal."""
    if isinstance(value, bool):
        return Atom(str(value))
    if isinstance(value, complex):
        return Atom(_complex(value))
    if value != value:
        return Atom("jnp.nan")
    if value < 0 or (value == 0 and str(value).startswith("-")):
        return Un("-", number(-value))
    if value == float("inf"):
        return Atom("jnp.inf")
    return Atom(repr(value).replace("e+", "e"))


def _complex(value: complex) -> str:
    if value.real == 0 and value.imag >= 0:
        return f"{value.imag!r}j"
    return f"complex({value.real!r}, {value.imag!r})"


def call(name: str, /, *args: Py, **keywords: Py) -> Call:
    """``name(*args, **keywords)`` for a dotted name; a number that fills an array needs no type beside the array's."""
    match args:
        case (shape, Call(func=kind, args=(number,)), dtype) if name == "jnp.full" and kind == dtype:
            args = shape, number, dtype
    return Call(Atom(name), args, tuple(keywords.items()))


def method(value: Py, name: str, /, *args: Py, **keywords: Py) -> Call:
    """``value.name(*args)``."""
    return Call(Attr(value, name), args, tuple(keywords.items()))


def tuple_of(items: tuple[Py, ...]) -> Py:
    """A tuple."""
    return Tup(items)


def precedence(node: Py) -> int:
    """The binding strength of a node's outermost operator."""
    match node:
        case Bin(op=op):
            return PRECEDENCE[op]
        case Un(op="not"):
            return PRECEDENCE["not"]
        case Un():
            return PRECEDENCE["unary"]
        case IfExp():
            return PRECEDENCE["if"]
        case _:
            return PRECEDENCE["primary"]


def left_needs_parentheses(op: str, left: Py) -> bool:
    """Whether the left operand of ``op`` must be parenthesised."""
    inner, own = precedence(left), PRECEDENCE[op]
    if op == "**":
        return inner <= own
    if op in COMPARISONS:
        return inner <= own
    if op == "@" and isinstance(left, Bin) and left.op != "@":
        return inner <= own  # (w * A) @ B: the same without, but not to the eye
    return inner < own


def right_needs_parentheses(op: str, right: Py) -> bool:
    """Whether the right operand of ``op`` must be parenthesised."""
    inner, own = precedence(right), PRECEDENCE[op]
    if op == "**":
        return inner < PRECEDENCE["unary"]
    return inner <= own


def unary_needs_parentheses(op: str, operand: Py) -> bool:
    """Whether the operand of a prefix operator must be parenthesised."""
    if op != "not" and isinstance(operand, Bin) and operand.op == "**":
        return True  # as the formatter writes it: -(x**2)
    return precedence(operand) < (PRECEDENCE["not"] if op == "not" else PRECEDENCE["unary"])


def is_primary(node: Py) -> bool:
    """Whether ``.name``, ``[...]`` or ``(...)`` may follow without parentheses."""
    if isinstance(node, Atom):
        return not node.text[0].isdigit()
    return precedence(node) == PRECEDENCE["primary"]


def hugs_power(left: Py, right: Py) -> bool:
    """``x**2``: no blanks around a power of simple operands."""
    return not isinstance(left, Un) and _simple_power(left) and _simple_power(right)


def _simple_power(node: Py) -> bool:
    match node:
        case Atom(text=text):
            return not text.startswith("complex(")
        case Attr(value=value):
            return _simple_power(value)
        case Un(op="-", operand=Atom()):
            return True
        case _:
            return False


def unsliced(node: Py) -> Py:
    """The array of which the node is a slice, or the node."""
    while isinstance(node, Sub):
        node = node.value
    return node


def simple_bound(node: Py) -> bool:
    """A slice bound that needs no blanks around the colon."""
    match node:
        case Atom():
            return "." not in node.text or node.text[0].isdigit()
        case Un(operand=Atom(text=text)):
            return "." not in text
        case _:
            return False


def flat(node: Py) -> str:
    """The text of a node on one line."""
    match node:
        case Atom(text=text):
            return text
        case Attr(value=value, name=name):
            return f"{_primary(value)}.{name}"
        case Call(func=func, args=args, keywords=keywords):
            parts = [flat(a) for a in args] + [f"{k}={flat(v)}" for k, v in keywords]
            return f"{_primary(func)}({', '.join(parts)})"
        case Sub(value=value, items=items):
            inside = ", ".join(flat(i) for i in items)
            return f"{_primary(value)}[{inside}]"
        case Slice(lo=lo, hi=hi, step=step):
            return "".join(slice_parts(lo, hi, step))
        case Bin(op=op, left=left, right=right):
            a = _wrap(left, left_needs_parentheses(op, left))
            b = _wrap(right, right_needs_parentheses(op, right))
            return f"{a}**{b}" if op == "**" and hugs_power(left, right) else f"{a} {op} {b}"
        case Un(op=op, operand=operand):
            text = _wrap(operand, unary_needs_parentheses(op, operand))
            return f"not {text}" if op == "not" else op + text
        case Tup(items=items):
            inside = ", ".join(flat(i) for i in items)
            return f"({inside},)" if len(items) == 1 else f"({inside})"
        case IfExp(condition=condition, then=then, orelse=orelse):
            a, c = (_wrap(part, isinstance(part, IfExp)) for part in (then, condition))
            return f"{a} if {c} else {flat(orelse)}"
        case Generator(element=element, clauses=clauses, listed=listed):
            text = " ".join([flat(element), *(f"for {name} in {flat(values)}" for name, values in clauses)])
            return f"[{text}]" if listed else text
    raise TypeError(node)


def mapped(node: Py, change: Callable[[Py], Py]) -> Py:
    """The tree with ``change`` applied to every node, operands first."""
    match node:
        case Attr(value=value, name=name):
            node = Attr(mapped(value, change), name)
        case Call(func=func, args=args, keywords=keywords):
            inner = tuple((k, mapped(v, change)) for k, v in keywords)
            # one that is marked (a named tuple is returned) stays so
            node = replace(node, func=mapped(func, change), args=tuple(mapped(a, change) for a in args), keywords=inner)
        case Sub(value=value, items=items):
            node = Sub(mapped(value, change), tuple(mapped(i, change) for i in items))
        case Slice(lo=lo, hi=hi, step=step):
            node = Slice(*(None if b is None else mapped(b, change) for b in (lo, hi, step)))
        case Bin(op=op, left=left, right=right):
            node = Bin(op, mapped(left, change), mapped(right, change))
        case Un(op=op, operand=operand):
            node = Un(op, mapped(operand, change))
        case Tup(items=items):
            node = Tup(tuple(mapped(i, change) for i in items))
        case IfExp(condition=condition, then=then, orelse=orelse):
            node = IfExp(mapped(condition, change), mapped(then, change), mapped(orelse, change))
        case Generator(element=element, clauses=clauses, listed=listed):
            node = Generator(mapped(element, change), tuple((n, mapped(v, change)) for n, v in clauses), listed)
    return change(node)


def slice_parts(lo: Py | None, hi: Py | None, step: Py | None) -> list[str]:
    """A slice's text: blanks around the colons where a bound is not simple."""
    blank = "" if all(b is None or simple_bound(b) for b in (lo, hi, step)) else " "
    parts = []
    if lo is not None:
        parts += [flat(lo), blank]
    parts.append(":")
    if hi is not None:
        parts += [blank, flat(hi)]
    if step is not None:
        parts += [blank if hi is not None else "", ":", blank, flat(step)]
    return parts


def _wrap(node: Py, parentheses: bool) -> str:
    return f"({flat(node)})" if parentheses else flat(node)


def _primary(node: Py) -> str:
    return _wrap(node, not is_primary(node))


def quoted(text: str) -> str:
    """A Python string literal in double quotes."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in escaped) + '"'
