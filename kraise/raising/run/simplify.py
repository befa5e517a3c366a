"""Smart constructors of expressions: exact simplifications only, the same on every input.

Integers and booleans are folded and their identities applied; of floats only what changes no bit and no derivative
(``x * 1``, ``x / 1``, ``x - 0``). In particular ``x + 0.0`` and ``x * 0.0`` stay, and so does the negation of a
comparison of floats, which is not the opposite comparison where there is a NaN.
"""

from __future__ import annotations

from kraise.ir.equations import Cast, Const, Expr, Op
from kraise.ir.operations import COMPARISONS
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import free_indices
from kraise.raising.run import closed, words
from kraise.raising.run.integers import fits, folded

TRUE = Const(True, BOOL)
FALSE = Const(False, BOOL)
_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_COMPARISONS = frozenset(_OPPOSITE)
_BESIDE = {
    "and": ("ne", {"lt": "lt", "le": "lt", "gt": "gt", "ge": "gt"}),
    "or": ("eq", {"lt": "le", "le": "le", "gt": "ge", "ge": "ge"}),
}


def op(name: str, args: tuple[Expr, ...], type: ScalarType) -> Expr:
    """``Op(name, args, type)`` or something equal and simpler."""
    simple: Expr | None
    match name, args:
        case "and" | "or", (a, b):
            simple = _junction(name, a, b) if a.type.kind == b.type.kind == "bool" else None
        case "not", (a,):
            simple = negation(a) if a.type.kind == "bool" else None
        case "bits", (Op(name="bits", args=(a,)),) if a.type == type:
            simple = a
        case "neg", (Const(value=float() as value, name=""),) if abs(value) == float("inf"):
            simple = Const(-value, type)
        case "select", (c, a, b):
            a, b = _of_one_sign(a, b), _of_one_sign(b, a)
            args, simple = (c, a, b), _select(c, a, b, type)
        case _:
            simple = _integers(name, args, type) or _identity(name, args, type)
    return Op(name, args, type) if simple is None else simple


def _of_one_sign(arm: Expr, other: Expr) -> Expr:
    """An index beside an unsigned number becomes one: the common type of an array of each would be signed."""
    wide = other.type.kind == "uint" and (other.type.bits or 0) >= 32
    unsigned = wide and ((value := _int(other)) is None or value >= 2**31)
    return Cast(other.type, arm) if unsigned and arm.type == INT and free_indices(arm) else arm


def cast(type: ScalarType, arg: Expr) -> Expr:
    """The conversion, left out where it changes nothing, carried out on integers (that wrap)."""
    if arg.type == type:
        return arg
    if (value := _int(arg)) is not None and type.is_integer:
        return Const(type.wrapped(value), type)
    if (value_of_word := words.part(arg, type)) is not None:
        return value_of_word
    return (closed.truncated if type.is_integer else closed.widened)(arg, type) or Cast(type, arg)


def conjunction(*conditions: Expr | None) -> Expr:
    """All of them; None stands for True."""
    result: Expr = TRUE
    for condition in conditions:
        if condition is not None:
            result = op("and", (result, condition), BOOL)
    return result


def disjunction(*conditions: Expr) -> Expr:
    """Any of them."""
    result: Expr = FALSE
    for condition in conditions:
        result = op("or", (result, condition), BOOL)
    return result


def select(condition: Expr, then: Expr, other: Expr, type: ScalarType | None = None) -> Expr:
    """``then if condition else other``."""
    return op("select", (condition, then, other), type or then.type)


def negation(a: Expr) -> Expr:
    """``not a`` for a boolean ``a``."""
    match a:
        case Const(value=value):
            return FALSE if value else TRUE
        case Op(name="not", args=(inner,)) if inner.type.kind == "bool":
            return inner
        case Op(name=name, args=(x, y)) if name in ("eq", "ne") or (name in _COMPARISONS and _whole(x) and _whole(y)):
            return Op(_OPPOSITE[name], (x, y), a.type)
    return Op("not", (a,), BOOL)


# --- booleans --------------------------------------------------------------------------------


def opposite(a: Expr, b: Expr) -> bool:
    """Whether two conditions are plainly each other's negation."""
    return negation(a) is b or negation(b) is a


def _junction(name: str, a: Expr, b: Expr) -> Expr | None:
    unit, zero = (TRUE, FALSE) if name == "and" else (FALSE, TRUE)
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Const):
            return y if bool(x.value) is unit.value else zero
    if a is b:
        return a
    if opposite(a, b):
        return zero
    for x, y in ((a, b), (b, a)):
        if (one := _beside_equality(name, x, y)) is not None:
            return one
        if isinstance(x, Op) and x.name == name and y in x.args:  # a and (a and b)
            return x
    # a or (b or a): what is asked first is not asked again
    asked = set(_parts(name, a))
    rest = [part for part in _parts(name, b) if part not in asked]
    if len(rest) == len(_parts(name, b)):
        return None
    if not rest:
        return a
    shorter = rest[-1]
    for part in reversed(rest[:-1]):
        shorter = op(name, (part, shorter), BOOL)
    return op(name, (a, shorter), BOOL)


def _beside_equality(name: str, x: Expr, y: Expr) -> Expr | None:
    """``a != b and a <= b`` is ``a < b``, and ``a == b or a < b`` is ``a <= b``: of NaN, too."""
    test, joined = _BESIDE[name]
    if not (isinstance(x, Op) and x.name == test and isinstance(y, Op) and y.name in joined):
        return None
    return Op(joined[y.name], y.args, BOOL) if set(x.args) == set(y.args) and x.args[0].type.kind != "bool" else None


def _parts(name: str, e: Expr) -> list[Expr]:
    match e:
        case Op(name=own, args=(a, b)) if own == name and e.type.kind == "bool":
            return [*_parts(name, a), *_parts(name, b)]
    return [e]


def _select(c: Expr, a: Expr, b: Expr, type: ScalarType) -> Expr | None:
    if a is b and a.type == type:
        return a
    if isinstance(c, Const):
        chosen = a if c.value else b
        return chosen if chosen.type == type else Cast(type, chosen)
    if isinstance(c, Op) and c.name == "not" and c.args[0].type.kind == "bool":
        return op("select", (c.args[0], b, a), type)
    if (then := _assuming(c, True, a)) is not a or _assuming(c, False, b) is not b:
        return op("select", (c, then, _assuming(c, False, b)), type)
    # `a if c else (a if d else b)` and `(a if d else b) if c else b`: one condition
    if isinstance(a, Op) and a.name == "select" and a.args[2] is b and a.type == type:
        return op("select", (op("and", (c, a.args[0]), BOOL), a.args[1], b), type)
    if isinstance(b, Op) and b.name == "select" and b.args[1] is a and b.type == type:
        return op("select", (op("or", (c, b.args[0]), BOOL), a, b.args[2]), type)
    if isinstance(a, Op) and a.name == "select" and a.args[1] is b and a.type == type:
        return op("select", (op("and", (c, negation(a.args[0])), BOOL), a.args[2], b), type)
    if isinstance(b, Op) and b.name == "select" and b.args[2] is a and b.type == type:
        return op("select", (op("and", (negation(c), b.args[0]), BOOL), b.args[1], a), type)
    if type.kind == "bool" and a.type.kind == b.type.kind == c.type.kind == "bool":
        if b is c:
            return op("and", (c, a), type)
        if a is c:
            return op("or", (c, b), type)
        if isinstance(a, Const):
            return op("or", (c, b), type) if a.value else op("and", (negation(c), b), type)
        if isinstance(b, Const):
            return op("or", (negation(c), a), type) if b.value else op("and", (c, a), type)
    return None


def _assuming(c: Expr, holds: bool, arm: Expr) -> Expr:
    """The arm of a select on ``c``, itself a select on the same condition or its negation."""
    match arm:
        case Op(name="select", args=(inner, a, b), type=type):
            if inner is c:
                chosen = a if holds else b
            elif opposite(inner, c):
                chosen = b if holds else a
            else:
                return arm
            return _assuming(c, holds, chosen) if chosen.type == type else arm
    return arm


# --- integers --------------------------------------------------------------------------------


def _whole(x: Expr) -> bool:
    return x.type.is_integer or x.type.kind == "bool"


def _int(x: Expr) -> int | None:
    return int(x.value) if isinstance(x, Const) and x.type.is_integer and isinstance(x.value, int) else None


def _offset(x: Expr) -> tuple[Expr | None, int]:
    """``x`` as base + constant (Python's integers and C's signed ones, which do not wrap from 32 bits on)."""
    if (value := _int(x)) is not None:
        return None, value
    if isinstance(x, Op) and x.type.kind == "int" and (x.type.bits or 32) >= 32 and x.name in ("add", "sub"):
        a, b = x.args
        right, left = _int(b), _int(a)
        if right is not None and a.type == x.type:
            base, offset = _offset(a)
            return base, offset + (right if x.name == "add" else -right)
        if left is not None and x.name == "add" and b.type == x.type:
            base, offset = _offset(b)
            return base, offset + left
    return x, 0


def _integers(name: str, args: tuple[Expr, ...], type: ScalarType) -> Expr | None:
    """Folding and the identities of integers, which fold modulo their width."""
    if name in _COMPARISONS:
        return _comparison(name, args)
    values = tuple(map(_int, args))
    if not type.is_integer or not all(a.type.is_integer for a in args):
        return None
    known = tuple(v for v in values if v is not None)
    if len(known) == len(values):
        value = folded(name, known)
        if value is not None:
            value = type.wrapped(value)  # ``1 << 31`` is the least int
        if value is not None and fits(value, type):
            return Const(value, type)
    if len(args) != 2:
        return None
    (a, b), (x, y) = args, values
    same = a is b
    simple: Expr | None = None
    match name:
        case "add":
            simple = b if x == 0 else a if y == 0 else _gathered(name, a, y, type) or _gathered(name, b, x, type)
        case "sub":
            simple = Const(0, type) if same else a if y == 0 else _gathered(name, a, y, type) or _difference(a, b, type)
        case "mul":
            zero = Const(0, type) if 0 in (x, y) else None
            simple = b if x == 1 else a if y == 1 else zero
        case "floordiv" | "tdiv":
            simple = a if y == 1 else None
        case "mod" | "tmod":
            simple = Const(0, type) if y == 1 else None
        case "pow" | "shl" | "shr":
            simple = a if y == (1 if name == "pow" else 0) else None
        case "min" | "max" | "and_" | "or_" | "xor":
            nought = name in ("or_", "xor") and 0 in (x, y)
            simple = (b if x == 0 else a) if nought else a if same and name != "xor" else None
            simple = _flipped_back(a, b, type) if name == "xor" and simple is None else simple
    return simple if simple is not None and simple.type == type else None


def _flipped_back(a: Expr, b: Expr, type: ScalarType) -> Expr | None:
    """``(x ^ m) ^ m`` is x, and ``m ^ m`` nothing."""
    if a is b:
        return Const(0, type)
    for x, mask in ((a, b), (b, a)):
        if isinstance(x, Op) and x.name == "xor" and mask in x.args:
            return x.args[0] if x.args[1] is mask else x.args[1]
    return None


def _gathered(name: str, a: Expr, c: int | None, type: ScalarType) -> Expr | None:
    """``(base + c1) + c`` as ``base + (c1 + c)``."""
    if c is None or type.kind != "int" or a.type != type:
        return None
    base, offset = _offset(a)
    if base is None or base is a or base.type != type:
        return None
    total = offset + (c if name == "add" else -c)
    if not fits(abs(total), type):
        return None
    if total == 0:
        return base
    return Op("add" if total > 0 else "sub", (base, Const(abs(total), type)), type)


def _difference(a: Expr, b: Expr, type: ScalarType) -> Expr | None:
    """``(a + b) - b`` and ``(x + c1) - (x + c2)``."""
    if type.kind != "int":
        return None
    (left, c1), (right, c2) = _offset(a), _offset(b)
    if left is not None and left is right and fits(c1 - c2, type):
        return Const(c1 - c2, type)
    if isinstance(a, Op) and a.name == "add" and b in a.args:
        other = a.args[1] if a.args[0] is b else a.args[0]
        return other if other.type == type else None
    return None


def _comparison(name: str, args: tuple[Expr, ...]) -> Expr | None:
    a, b = args
    if not (_whole(a) and _whole(b)):
        return closed.compared(name, a, b)
    if a is b:
        return TRUE if name in ("le", "ge", "eq") else FALSE
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Cast) and x.arg.type.kind == "bool" and isinstance(y, Const):
            x = x.arg  # `int p = i < n && x[i] > 0; if (p)`
        if name in ("eq", "ne") and x.type.kind == "bool" and isinstance(y, Const) and y.value in (0, 1):
            return x if bool(y.value) is (name == "eq") else negation(x)
        if isinstance(x, Op) and x.name == "select" and isinstance(y, Const):
            pairs = [(arm, y) if x is a else (y, arm) for arm in x.args[1:]]
            known = [_comparison(name, pair) for pair in pairs]
            if any(k in (TRUE, FALSE) for k in known):  # `int p = i < n ? x[i] : -1; if (p >= 0)`
                first, second = (k or Op(name, pair, BOOL) for k, pair in zip(known, pairs, strict=True))
                return select(x.args[0], first, second, BOOL)
    # unsigned against signed converts in C: only constants that both types hold the same way are compared
    constants = isinstance(a, Const) and isinstance(b, Const)
    alike = constants and (a.type == b.type or all(0 <= (_int(x) or 0) < 2**31 for x in args))
    if a.type.kind == b.type.kind == "int" or alike:
        (left, c1), (right, c2) = _offset(a), _offset(b)
        if left is right:
            return TRUE if COMPARISONS[name](c1, c2) else FALSE
    return None


# --- floats and unknown types ----------------------------------------------------------------


def _identity(name: str, args: tuple[Expr, ...], type: ScalarType) -> Expr | None:
    """``x * 1``, ``x / 1``, ``x - 0``, whole powers: exact for every float, NaN and -0.0 included."""
    if len(args) != 2 or not type.is_inexact:
        return None
    a, b = args
    if name == "mul" and _is(a, 1) and b.type == type:
        return b
    if (name in ("mul", "div") and _is(b, 1)) or (name == "sub" and _is(b, 0)):
        return a if a.type == type else None
    return _power(a, b, type) if name == "pow" and a.type == type else None


def _power(x: Expr, y: Expr, type: ScalarType) -> Expr | None:
    """``x**0.0``, ``x**2.0``, ``x**float(k)``: a whole exponent is an integer, with finite derivatives at zero."""
    if isinstance(y, Cast) and y.type.is_inexact and y.arg.type.is_integer:
        return Op("pow", (x, y.arg), type)
    if not isinstance(y, Const) or type.kind == "complex" or not isinstance(y.value, int | float):
        return None
    if y.value in (0, 1):
        return x if y.value else Const(1.0, type)
    whole = y.type.is_inexact and abs(y.value) <= 64 and y.value == int(y.value)
    return Op("pow", (x, Const(int(y.value), INT)), type) if whole else None


def _is(x: Expr, value: int) -> bool:
    return isinstance(x, Const) and not isinstance(x.value, bool) and x.value == value and str(x.value) != "-0.0"
