"""Attributes of a class that never change and are known from others: ``self.blocks = (self.n + 255) // 256``.

They are no state: what they are is written where they are used.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import all_of, dotted, walk

KNOWN_CALLS = frozenset(
    ("math.ceil", "math.floor", "builtins.int", "builtins.max", "builtins.min", "builtins.abs", "builtins.tuple",
     "builtins.zip", "numpy.ceil")
)  # fmt: skip
_WORDS = frozenset(("ceil", "floor", "int", "max", "min", "abs", "math", "tuple", "zip"))
_ALIKE = frozenset(("to_device", "asarray", "array", "device_array_like", "zeros_like", "empty_like", "ones_like"))


def attribute(node: cst.CSTNode) -> str:
    """``x`` of ``self.x``."""
    match node:
        case cst.Attribute(value=cst.Name(value="self"), attr=cst.Name(value=name)):
            return name
    return ""


def shape_of(
    value: cst.BaseExpression, first: Mapping[str, cst.BaseExpression], once: set[str]
) -> cst.BaseExpression | None:
    """``self.u.shape`` for ``u.shape``, where ``self.u`` is an array like the parameter ``u`` and set once."""
    if not isinstance(value, cst.Attribute) or value.attr.value != "shape" or not isinstance(value.value, cst.Name):
        return None
    for name in (n for n in first if n in once):
        match first[name]:
            case cst.Name(value=given):
                pass
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value=made)), args=[cst.Arg(value=cst.Name(value=given)), *_]
            ) if made in _ALIKE:
                pass
            case cst.Call(func=cst.Attribute(value=cst.Name(value=given), attr=cst.Name(value="copy")), args=[]):
                pass
            case _:
                continue
        if given == value.value.value:
            return cst.Attribute(cst.Attribute(cst.Name("self"), cst.Name(name)), cst.Name("shape"))
    return None


def is_known(value: cst.BaseExpression, once: set[str], found: Any, imports: Imports) -> bool:
    """Is a value made of constants and of attributes that never change? ``found`` is the class's state."""
    plain = False
    bound = {n.value for f in all_of(cst.CompFor, value) for n in all_of(cst.Name, f.target)}
    words = {id(n.attr) for n in all_of(cst.Attribute, value)}
    for inner in walk(value):
        if id(inner) in words:
            continue
        match inner:
            case cst.Integer() | cst.Float():
                plain = True
            case cst.Call(func=func) if imports.qualified(dotted(func)) not in KNOWN_CALLS:
                return False
            case cst.Attribute() if attribute(inner):
                if attribute(inner) not in once and attribute(inner) not in found.known:
                    return False
                plain = True
            case cst.Subscript(value=owner) if not attribute(owner):
                return False
            case cst.SimpleString() | cst.List() | cst.Lambda() | cst.Comparison():
                return False
            case cst.Name(value=name) if name in bound:
                continue
            case cst.Name(value=name) if name not in ("self", "True", "False") and not imports.qualified(name):
                if not name.isupper() and name not in _WORDS:
                    return False
            case cst.Attribute() if imports.qualified(dotted(inner)) not in KNOWN_CALLS:
                return False
    bare = isinstance(value, cst.Name) or attribute(value)
    return plain and not bare and not _mentions_parameter(value, found)


def _mentions_parameter(value: cst.BaseExpression, found: Any) -> bool:
    """Does a value of ``__init__`` use one of its parameters by its own name?"""
    init = found.methods["__init__"]
    own = {p.name.value for p in (*init.params.params, *init.params.kwonly_params)} - {"self"}
    attributes = {id(n.attr) for n in all_of(cst.Attribute, value)}
    bound = {id(n) for f in all_of(cst.CompFor, value) for n in walk(f.target)}
    return any(
        isinstance(n, cst.Name) and n.value in own and id(n) not in attributes | bound for n in walk(value)
    )  # fmt: skip
