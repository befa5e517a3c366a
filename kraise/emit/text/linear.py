"""Integer expressions as sums of multiples: what subscripts, bounds and extents are compared and printed through."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from kraise.emit.text import python as py
from kraise.emit.text.python import Py
from kraise.ir import equations as eq
from kraise.ir.types import INT32, ScalarType


@dataclass(frozen=True)
class Linear:
    """``constant + sum(coefficient * atom)``; atoms are expressions that are no sums (in the order they were met)."""

    terms: tuple[tuple[eq.Expr, int], ...] = ()
    constant: int = 0

    def coefficient(self, atom: eq.Expr) -> int:
        """The factor of ``atom``, 0 if it does not occur."""
        return next((c for a, c in self.terms if a is atom), 0)

    def without(self, atom: eq.Expr) -> Linear:
        """The rest of the sum."""
        return Linear(tuple((a, c) for a, c in self.terms if a is not atom), self.constant)

    def __add__(self, other: Linear | int) -> Linear:
        if isinstance(other, int):
            return Linear(self.terms, self.constant + other)
        sums = dict(self.terms)
        for atom, c in other.terms:
            sums[atom] = sums.get(atom, 0) + c
        found = Linear(tuple((a, c) for a, c in sums.items() if c), self.constant + other.constant)
        return Linear() if found.terms and found.is_nought() else found

    def is_nought(self) -> bool:
        """Whether the sum is of numbers alone and 0, where some of them go by the names of constants."""
        numbers = [c * a.value for a, c in self.terms if isinstance(a, eq.Const) and isinstance(a.value, int)]
        return len(numbers) == len(self.terms) and sum(numbers) + self.constant == 0

    def __neg__(self) -> Linear:
        return self.times(-1)

    def __sub__(self, other: Linear | int) -> Linear:
        return self + (-other)

    def times(self, k: int) -> Linear:
        """Every part multiplied by ``k``."""
        return Linear(tuple((a, c * k) for a, c in self.terms), self.constant * k) if k else Linear()

    def same(self, other: Linear) -> bool:
        """Equal whatever the atoms are."""
        difference = self - other
        return not difference.terms and difference.constant == 0


@lru_cache(maxsize=1 << 14)
def linear(expr: eq.Expr) -> Linear:
    """The linear form of an integer expression."""
    match expr:
        case eq.Const(value=value, name="") if isinstance(value, int):
            return Linear((), int(value))
        case eq.Shape(array=array, axis=axis):
            return Linear(((eq.Shape(array, axis, INT32), 1),))
        case eq.Cast(type=kind, arg=arg) if transparent(kind, arg):
            return linear(arg)
        case eq.Op(name="sub" | "neg", type=ScalarType(kind="uint")):
            pass  # it may wrap round
        case eq.Op(name="add", args=(a, b)):
            return linear(a) + linear(b)
        case eq.Op(name="sub", args=(a, b)):
            return linear(a) - linear(b)
        case eq.Op(name="neg", args=(a,)):
            return -linear(a)
        case eq.Op(name="mul", args=(a, b)):
            x, y = linear(a), linear(b)
            if not x.terms:
                return y.times(x.constant)
            if not y.terms:
                return x.times(y.constant)
    return Linear(((expr, 1),))


def transparent(kind: object, arg: eq.Expr) -> bool:
    """Whether a cast of an index expression changes nothing (integer to an integer of 32 bits or more, of a difference
    one that keeps what is below zero there)."""
    source = getattr(arg, "type", None)
    wide = getattr(kind, "bits", None)
    if source is None or not source.is_integer or not isinstance(kind, ScalarType) or not kind.is_integer:
        return False
    if wide is not None and wide < 32:
        return False
    if source.kind == "uint" and (kind.kind == "int" or (wide or 64) < (source.bits or 64)) and _differs(arg):
        return False  # the number that it wrapped round to is another one in the other type
    turned = (
        kind.kind == "uint" and source.kind == "int" or source.kind == "uint" and (wide or 32) > (source.bits or 64)
    )
    return not turned or all(c >= 0 for _, c in linear(arg).terms) and linear(arg).constant >= 0


def _differs(arg: eq.Expr) -> bool:
    """Whether an unsigned difference makes the number: it may be near its type's end."""
    match arg:
        case eq.Op(name="sub" | "neg", type=ScalarType(kind="uint")):
            return True
        case eq.Op(args=args):
            return any(map(_differs, args))
        case eq.Cast(type=ScalarType(is_integer=True), arg=inner):
            return _differs(inner)
    return False


def nonnegative(value: Linear) -> bool:
    """Whether the sum is at least 0 for all sizes (a bare parameter counts as a size)."""
    return value.constant >= 0 and all(c > 0 and is_size(a) for a, c in value.terms)


def rounds_up(value: Linear) -> bool:
    """Whether the sum is at least 0, quotients being at least what is left of them: ``4 * ((n + 3) // 4) - n``."""
    least = Linear((), value.constant)
    for atom, c in value.terms:
        match atom:
            case eq.Op(name="floordiv" | "tdiv", args=(e, eq.Const(value=int() as d))) if (
                c > 0 and d > 0 and c % d == 0
            ):
                least += (linear(e) + (1 - d)).times(c // d)
            case _:
                least += Linear(((atom, c),))
    return nonnegative(least)


def is_size(atom: eq.Expr) -> bool:
    """Whether an atom is taken to be at least 0."""
    match atom:
        case eq.Shape() | eq.Param():
            return True
        case eq.Const(value=value):
            return isinstance(value, int) and value >= 0
        case eq.Op(name="min", args=args) if len({a for arg in args for a, _ in linear(arg).terms if _given(a)}) > 1:
            return False  # one bounds the threads, another tells some of them apart: it may be any number
        case eq.Op(name="mul" | "min" | "floordiv" | "tdiv" | "and_" | "shl", args=args):
            return all(nonnegative(linear(a)) for a in args)
        case eq.Op(name="select", args=(_, a, b)):
            return nonnegative(linear(a)) and nonnegative(linear(b))
        case eq.Op(name="mod" | "tmod", args=args):
            return nonnegative(linear(args[0])) and nonnegative(linear(args[1]))
        case eq.Op(name="max", args=args):
            return any(nonnegative(linear(a)) for a in args)
    return False


def _given(atom: eq.Expr) -> bool:
    return isinstance(atom, eq.Param) and not atom.name.startswith(("grid.", "block.", "threads.", "warps."))


def print_sum(value: Linear, atom_text) -> Py:  # type: ignore[no-untyped-def]
    """The sum as Python text: positive terms first; ``atom_text`` prints an atom."""
    parts: list[tuple[bool, Py]] = []
    for atom, c in value.terms:
        text = atom_text(atom)
        if abs(c) != 1:
            text = py.Bin("*", py.number(abs(c)), text)
        parts.append((c > 0, text))
    if value.constant or not parts:
        parts.append((value.constant >= 0, py.number(abs(value.constant))))
    parts.sort(key=lambda p: not p[0])
    positive, first = parts[0]
    out: Py = first if positive else py.Un("-", first)
    for positive, text in parts[1:]:
        out = py.Bin("+" if positive else "-", out, text)
    return out


def static_cast(text: Py, arg: eq.Expr, kind: ScalarType) -> Py:
    """``text``, a number that is known when the function is traced, converted to ``kind`` as the source does.

    A size is no less than 0 and has no more than 31 bits: it fits an unsigned integer of 32.
    """
    if not kind.is_integer:
        return text
    if not arg.type.is_integer or arg.type.kind == "bool":
        text = py.call("int", text)
    bits, unsigned = kind.bits or 64, kind.kind == "uint"
    if transparent(kind, arg) and (not unsigned or nonnegative(linear(arg))):
        return text
    if bits >= 32 and not unsigned:
        return text
    if not unsigned:
        half = 1 << bits - 1
        return py.Bin("-", py.Bin("&", py.Bin("+", text, py.number(half)), py.number(2 * half - 1)), py.number(half))
    return py.Bin("&", text, py.number((1 << bits) - 1))


def round_its_type(text: Py, number: eq.Expr) -> Py:
    """``text``, a number that is known when the function is traced, as it stands beside others: an unsigned difference
    may have gone round."""
    match number:
        case eq.Op(name="sub" | "neg", type=ScalarType(kind="uint", bits=int() as bits)):
            return py.Bin("&", text, py.number((1 << bits) - 1))
    return text


# operations on integers that are known when the function is traced
STATIC_INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "floordiv": "//",
    "tdiv": "//",
    "mod": "%",
    "tmod": "%",
    "shl": "<<",
    "shr": ">>",
    "and_": "&",
    "or_": "|",
    "xor": "^",
    "pow": "**",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "eq": "==",
    "ne": "!=",
    "and": "and",
    "or": "or",
}


def from_zero(axis: eq.Axis) -> bool:
    """Whether an axis counts in ones from zero."""
    return axis.step == 1 and linear(axis.lo).same(Linear())
