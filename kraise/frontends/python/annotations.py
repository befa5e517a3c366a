"""Types that the source writes down: annotations, numba's signatures, dtypes."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from kraise import dialects
from kraise.frontends.python.source import dotted
from kraise.ir.types import BOOL, BY_NAME, COMPLEX, FLOAT, INT, NUMBER, ArrayType, ScalarType, Type

_BARE = {"int": INT, "float": FLOAT, "bool": BOOL, "complex": COMPLEX, "builtins.int": INT, "builtins.float": FLOAT}
_BARE |= {"builtins.bool": BOOL, "builtins.complex": COMPLEX}

# the types of a signature in a string are numba's own names, whatever the module imports
_SIGNATURE_TYPE = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(\[[^\]]*\])?\s*")


def scalar_type(qualified: str) -> ScalarType | None:
    """The type that a qualified name stands for (numpy.float32, numba.f4, int), None if it is none."""
    if qualified in _BARE:
        return _BARE[qualified]
    concept = dialects.vocabulary("numpy_scalar", "numba_cuda").get(qualified, "")
    if not concept and "." in qualified:  # numba.types.float32, numba.core.types.float32, cupy.float32
        head, _, last = qualified.rpartition(".")
        if head.split(".")[0] in ("numba", "jax", "cupy"):
            concept = dialects.vocabulary("numpy_scalar", "numba_cuda").get(f"numba.{last}", "")
            concept = concept or dialects.vocabulary("numpy_scalar").get(f"numpy.{last}", "")
    return BY_NAME.get(concept.removeprefix("type.")) if concept.startswith("type.") else None


def type_by_text(text: str) -> Type | None:
    """``float32[:, ::1]`` -> an array type, ``int32`` -> a scalar type; None if the text is no type known here."""
    match = _SIGNATURE_TYPE.fullmatch(text)
    if match is None:
        return None
    last = match[1].rpartition(".")[2]
    element = _BARE.get(last) or scalar_type(f"numba.{last}") or scalar_type(f"numpy.{last}")
    if element is None:
        return ArrayType(NUMBER, 0) if last in ("ndarray", "NDArray", "ArrayLike", "Array") else None
    if match[2] is None:
        return element
    inner = match[2][1:-1]
    return ArrayType(element, inner.count(",") + 1) if ":" in inner else None


def annotated(node: cst.BaseExpression, qualified: Callable[[str], str]) -> Type | None:
    """The type of an annotation; an ArrayType with ndim 0 says "an array" and no more. None where it says nothing."""
    if isinstance(node, cst.SimpleString):
        return type_by_text(str(node.evaluated_value))
    name = dotted(node)
    if name:
        full = qualified(name) or name
        if full in dialects.table("numpy_scalar")["arrays"]["names"]:
            return ArrayType(NUMBER, 0)
        return scalar_type(full)
    if isinstance(node, cst.Subscript):
        head = dotted(node.value)
        full = qualified(head) or head
        if full in dialects.table("numpy_scalar")["arrays"]["names"]:
            first = node.slice[0].slice
            element = annotated(first.value, qualified) if isinstance(first, cst.Index) else None
            return ArrayType(element if isinstance(element, ScalarType) else NUMBER, 0)
        element = scalar_type(full)
        if element is not None and all(isinstance(e.slice, cst.Slice) for e in node.slice):
            return ArrayType(element, len(node.slice))
    return None


_CODES = {"d": "float64", "f": "float32", "e": "float16", "?": "bool", "b": "int8", "B": "uint8", "h": "int16"}
_CODES |= {"H": "uint16", "q": "int64", "Q": "uint64", "i": "int32", "I": "uint32"}
_SIZED = {"f": "float", "i": "int", "u": "uint"}  # by bytes: "f8"


def of_dtype(node: cst.BaseExpression, qualified: Callable[[str], str]) -> Type | None:
    """The type that a dtype argument says: as an annotation does, or by one of NumPy's codes (``"d"``, ``"<f8"``)."""
    if isinstance(node, cst.SimpleString):
        code = str(node.evaluated_value).lstrip("<=|")
        name = _CODES.get(code, "")
        if not name and code[:1] in _SIZED and code[1:] in ("1", "2", "4", "8"):
            name = f"{_SIZED[code[0]]}{8 * int(code[1:])}"
        if name:
            return scalar_type(f"numpy.{name}")
    return annotated(node, qualified)


def split_signature(text: str) -> list[str]:
    """The parameter types of ``void(float32[:, :], int32)`` (or of ``(f4[:], i4)``), as texts."""
    match = re.fullmatch(r"[^()]*\((.*)\)\s*", text.strip(), re.S)
    if match is None:
        return []
    parts, depth, current = [], 0, ""
    for character in match[1]:
        depth += (character in "[(") - (character in "])")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [p for p in [*parts, current] if p.strip()]


def signature(decorator: cst.BaseExpression, qualified: Callable[[str], str], code: Callable[[cst.CSTNode], str]):
    """The parameter types of a decorator's signature, a list of ``Type | None``; [] where it has none.

    Several signatures: the element type is NUMBER where they differ.
    """
    if not isinstance(decorator, cst.Call) or not decorator.args:
        return []
    first = decorator.args[0]
    if first.keyword is not None and first.keyword.value not in ("signature", "func_or_sig"):
        return []
    value = first.value
    alternatives = [e.value for e in value.elements] if isinstance(value, cst.List) else [value]
    found: list[list[Type | None]] = []
    for node in alternatives:
        text = str(node.evaluated_value) if isinstance(node, cst.SimpleString) else code(node)
        if isinstance(node, cst.SimpleString | cst.Call | cst.Tuple):
            found.append([type_by_text(t) for t in split_signature(text)])
    if not found or any(len(f) != len(found[0]) for f in found):
        return []
    return [_common([f[k] for f in found]) for k in range(len(found[0]))]


def _common(types: list) -> Type | None:
    if all(t == types[0] for t in types):
        return types[0]
    if all(isinstance(t, ArrayType) and t.ndim == types[0].ndim for t in types):
        return ArrayType(NUMBER, types[0].ndim)
    return NUMBER if all(isinstance(t, ScalarType) for t in types) else None
