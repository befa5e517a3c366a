"""The type of a result by the types of its operands: Python's kinds are weak, sized types promote as NumPy's do."""

from __future__ import annotations

from kraise.ir.kernel import Const, Expr, Op
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import BOOL, COMPLEX, FLOAT, INT, NUMBER, ScalarType

_BITWISE = frozenset({"and_", "or_", "xor", "invert", "min", "max"})
_KEPT = frozenset({"add", "sub", "mul", "neg", "abs", "floordiv", "mod", "pow"})  # floats where one operand is one


def promote(a: ScalarType, b: ScalarType) -> ScalarType:
    """The stronger of two types (bool < int < number < float < complex; a number absorbs floats)."""
    if a == b:
        return a
    if a == BOOL:
        return b
    if b == BOOL:
        return a
    if "number" in (a.kind, b.kind):
        return COMPLEX if "complex" in (a.kind, b.kind) else NUMBER
    if a.bits is None or b.bits is None:
        return _weak(a, b)
    return _sized(a, b)


def _level(t: ScalarType) -> int:
    return {"bool": 0, "int": 1, "uint": 1, "bfloat": 2, "float": 2, "complex": 3}[t.kind]


def _weak(a: ScalarType, b: ScalarType) -> ScalarType:
    """One of the two is Python's own: it takes the other's width where the other's kind holds it."""
    weak, other = (a, b) if a.bits is None else (b, a)
    if other.bits is None:
        return weak if _level(weak) >= _level(other) else other
    if _level(other) >= _level(weak):
        return other
    if weak == COMPLEX and other.kind == "float":
        return ScalarType("complex", 64 if (other.bits or 64) <= 32 else 128)
    return weak


def _sized(a: ScalarType, b: ScalarType) -> ScalarType:
    first, second = sorted((a, b), key=_level)
    bits, more = first.bits or 64, second.bits or 64
    if first.is_integer and second.is_integer:
        if first.kind == second.kind:
            return ScalarType(first.kind, max(bits, more))
        unsigned, signed = (first, second) if first.kind == "uint" else (second, first)
        if (signed.bits or 64) > (unsigned.bits or 64):
            return signed
        wide = 2 * (unsigned.bits or 64)
        return ScalarType("int", wide) if wide <= 64 else ScalarType("float", 64)
    if first.is_integer:  # with a float or complex: wide enough for the integer
        need = {8: 16, 16: 32}.get(bits, 64)
        if second.kind == "complex":
            return ScalarType("complex", max(more, 2 * need))
        if second.kind == "bfloat":
            return second if bits == 8 else ScalarType("float", max(32, need))
        return ScalarType("float", max(more, need))
    if second.kind == "complex":
        return ScalarType("complex", max(more, 2 * bits if first.kind == "float" else bits))
    if "bfloat" in (first.kind, second.kind):
        return ScalarType("float", max(32, bits, more))
    return ScalarType(second.kind, max(bits, more))


def result_type(name: str, args: tuple[Expr, ...]) -> ScalarType:
    """The type of an operation on typed operands."""
    rule = OPERATIONS[name].result
    types = [a.type for a in args]
    if rule == "bool":
        return BOOL
    if rule == "int":
        return INT
    if rule == "complex":
        return COMPLEX
    if rule == "second":
        return promote(types[1], types[2])
    if rule == "real" or name == "abs":
        if types[0].kind == "complex":
            return FLOAT if types[0].bits is None else ScalarType("float", types[0].bits // 2)
        return types[0] if types[0] != BOOL else INT
    if name in ("shl", "shr"):
        return INT if types[0] == BOOL else types[0]
    common = types[0]
    for other in types[1:]:
        common = promote(common, other)
    if rule == "inexact":
        return FLOAT if common.is_integer or common == BOOL else common
    if common == BOOL and name not in _BITWISE:
        return INT
    if name == "pow" and (common.is_integer or common == BOOL) and _negative(args[1]):
        return FLOAT
    return common


def fractional(e: Expr) -> bool:
    """Whether a value is no integer whatever the arguments hold: ``x[i] * 0.5``."""
    if e.type.is_inexact:
        return True
    if not isinstance(e, Op) or e.type != NUMBER:
        return False
    return OPERATIONS[e.name].result == "inexact" or (e.name in _KEPT and any(map(fractional, e.args)))


def _negative(exponent: Expr) -> bool:
    match exponent:
        case Const(value=int() | float() as value):
            return value < 0
        case Op(name="neg", args=(Const(),)):
            return True
    return False
