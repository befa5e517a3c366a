"""``<type_traits>``: types and truth values that are made of types."""

from __future__ import annotations

from typing import Any

from kraise.frontends.cuda_c.c_types import CType, Pointer, Reference, Void
from kraise.ir.kernel import Const
from kraise.ir.types import BOOL, INT8, INT64, UINT64, ScalarType

_SAME = ("remove_const", "remove_volatile", "remove_cv", "type_identity")  # no type here says const
_BARE = ("remove_reference", "remove_cvref", "decay")
_TESTS = ("is_floating_point", "is_integral", "is_arithmetic", "is_signed", "is_unsigned", "is_pointer", "is_void")
_TWICE = (INT8, INT64, UINT64)  # char and signed char, long and long long are one type here


def made_type(name: str, given: list[Any]) -> CType | None:
    """``make_unsigned<T>``, ``conditional_t<B, T, U>``: the type; None for another name, or where there is none."""
    match name.removesuffix("_t"), given:
        case ("make_unsigned" | "make_signed" as made, [ScalarType(kind="int" | "uint") as t]):
            return ScalarType("uint" if made == "make_unsigned" else "int", t.bits)
        case "conditional", [Const(value=chosen), first, second]:
            return first if chosen else second  # type: ignore[no-any-return]
        case "enable_if", [Const(value=value), *rest] if value:
            return rest[0] if rest else Void()
        case same, [t] if same in _SAME and not isinstance(t, Const):
            return t  # type: ignore[no-any-return]
        case bare, [t] if bare in _BARE and not isinstance(t, Const):
            return t.to if isinstance(t, Reference) else t  # type: ignore[no-any-return]
        case "remove_pointer", [Pointer(to=to)]:
            return to
    return None


def truth(name: str, given: list[Any]) -> Const | None:
    """``is_same<T, U>``, ``is_integral_v<T>``; None for another name."""
    match name.removesuffix("_v"), given:
        case "is_same", [a, b] if a != b or a not in _TWICE:
            return None if isinstance(a, Const) or isinstance(b, Const) else Const(a == b, BOOL)
        case test, [t] if test in _TESTS:
            return Const(_test(test, t), BOOL)
    return None


def _test(name: str, t: CType) -> bool:
    if name == "is_pointer":
        return isinstance(t, Pointer)
    if name == "is_void":
        return isinstance(t, Void) and t.name == "void"
    if not isinstance(t, ScalarType):
        return False
    whole = t.is_integer or t.kind == "bool"
    own = t.kind == "float" and t.bits in (32, 64)  # half and bfloat16 are classes
    signed = own or t.kind == "int"
    answers = {"is_floating_point": own, "is_integral": whole, "is_arithmetic": own or whole, "is_signed": signed}
    return answers.get(name, whole and not signed)


__all__ = ["made_type", "truth"]
