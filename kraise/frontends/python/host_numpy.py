"""NumPy spellings of whole arrays in Python host functions: slices along any axes, ``axis`` and ``keepdims``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from kraise.frontends import host_rows
from kraise.frontends.python.source import dotted, integer_literal
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.types import NUMBER, ScalarType

Value = Callable[[cst.BaseExpression], h.Expr]
MOST_OPERANDS = 6
SCATTERS = {  # what adds, or takes the greater or the lesser, at places that may come twice -> its row
    "numpy.add.at": "scatter_add", "cupy.add.at": "scatter_add", "numpy.subtract.at": "scatter_sub",
    "numpy.maximum.at": "scatter_max", "cupy.maximum.at": "scatter_max",
    "numpy.minimum.at": "scatter_min", "cupy.minimum.at": "scatter_min",
    "cupyx.scatter_add": "scatter_add", "cupyx.scatter_max": "scatter_max", "cupyx.scatter_min": "scatter_min",
}  # fmt: skip
_JOINS = frozenset(("concatenate", "hstack", "vstack", "stack", "column_stack"))


def taken(whole: h.Expr, items: list[Any], scalar: Value, span: Any) -> h.Library | None:
    """``x[1:-1, None, 0]``; None where an item is not one of these."""
    args: list[h.Expr] = [whole]
    where, shapes = _places(items, scalar, args)
    if len(args) > MOST_OPERANDS:
        return None
    return h.Library("item", tuple(args), NUMBER, True, f"{{0}}[{where}]", f"d{{0}}[{where}]", shapes=shapes, span=span)


def put(whole: h.Expr, items: list[Any], value: h.Expr, scalar: Value, span: Any) -> h.Library | None:
    """The array after ``x[0, 1:] = value``; None where an item is not known."""
    args: list[h.Expr] = [whole, value]
    where, shapes = _places(items, scalar, args)
    if len(args) > MOST_OPERANDS or "None" in where:
        return None
    text, numpy = f"{{0}}.at[{where}].set({{1}})", f"put({{0}}, np.s_[{where}], {{1}})"
    derivative = f"put(d{{0}}, np.s_[{where}], d{{1}})"
    return h.Library(h.PUT, tuple(args), NUMBER, True, text, derivative, shapes=shapes, numpy=numpy, span=span)


def _places(items: list[Any], scalar: Value, args: list[h.Expr]) -> tuple[str, tuple[int, ...]]:
    """The text of a subscript; numbers that the text does not give become operands. Which of them bound slices."""
    texts: list[str] = []
    bounds: list[int] = []

    def number(node: cst.BaseExpression | None, bound: bool = True) -> str:
        if node is None:
            return ""
        found = scalar(node)
        if isinstance(found, k.Const) and not found.name:
            return str(int(found.value.real))
        bounds.extend([len(args)] if bound else [])
        args.append(found)
        return f"{{{len(args) - 1}}}"

    for item in items:
        match item.slice:
            case cst.Slice(lower=lower, upper=upper, step=step):
                after = f":{number(step)}" if step is not None else ""
                texts.append(f"{number(lower)}:{number(upper)}{after}")
            case cst.Index(value=value) if dotted(value).rpartition(".")[2] in ("None", "newaxis"):
                texts.append("None")
            case cst.Index(value=cst.Ellipsis()):
                texts.append("...")
            case cst.Index(value=value):
                texts.append(number(value, bound=False))
    if len(texts) > 1 and texts[-1] == "...":
        texts.pop()
    while len(texts) > 1 and texts[-1] == ":" and "..." not in texts:  # x[t, :] is x[t]
        texts.pop()
    return ", ".join(texts), tuple(bounds)


def along(row: str, call: h.Library, words: dict[str, cst.BaseExpression]) -> h.Library | None:
    """A reduction with ``axis`` and ``keepdims``; None where the row or a keyword is not known for that."""
    facts = host_rows.facts(row)
    if "axis" not in facts or set(words) - {"axis", "keepdims"}:
        return None
    axis = _axes(words["axis"]) if "axis" in words else None
    if "axis" in words and axis is None and dotted(words["axis"]) != "None":
        return None
    keep = "keepdims" in words and dotted(words["keepdims"]) == "True"
    if axis is None and not keep:
        return call
    given = f"axis={axis}" if axis is not None else ""
    given = ", ".join(x for x in (given, "keepdims=True" if keep else "") if x)

    def spelled(text: str) -> str:
        return f"{text[:-1]}, {given})"

    rule = facts["axis"].replace("{axis}", str(axis)).replace("{keep}", str(keep))
    derivative = "linear" if rule == "linear" else rule
    numpy = spelled(call.numpy) if call.numpy else ""
    return h.Library(call.name, call.args, call.type, True, spelled(call.jnp), derivative, numpy=numpy, span=call.span)


def joins(name: str) -> bool:
    """Does a call by this qualified name put arrays together?"""
    package, _, word = name.partition(".")
    return package in ("numpy", "cupy") and word in _JOINS


def joined(name: str, call: cst.Call, whole: Value, span: Any) -> h.Library | None:
    """``np.concatenate((a, b), axis=1)`` of arrays that the text names; None for another call."""
    if not joins(name) or not call.args or not isinstance(call.args[0].value, cst.Tuple | cst.List):
        return None
    parts = [e.value for e in call.args[0].value.elements]
    words = {a.keyword.value: a.value for a in call.args[1:] if a.keyword is not None}
    axis = integer_literal(words["axis"]) if "axis" in words else None
    if len(words) < len(call.args) - 1 or set(words) - {"axis"} or (words and axis is None) or not 0 < len(parts) <= 6:
        return None
    given = ", ".join(f"{{{n}}}" for n in range(len(parts)))
    text = f"jnp.{name.partition('.')[2]}([{given}]{'' if axis is None else f', axis={axis}'})"
    return h.Library("joined", tuple(whole(p) for p in parts), NUMBER, True, text, "linear", span=span)


def contracts(name: str) -> bool:
    """Is a call by this qualified name a contraction that says its axes?"""
    return name in ("numpy.einsum", "cupy.einsum", "numpy.tensordot", "cupy.tensordot")


def contracts_to_array(name: str, call: cst.Call) -> bool:
    """Has what a contraction gives axes, as far as its text says?"""
    first = call.args[0].value if call.args else None
    return not (isinstance(first, cst.SimpleString) and str(first.evaluated_value).replace(" ", "").endswith("->"))


def contraction(name: str, call: cst.Call, whole: Value, span: Any) -> h.Library | None:
    """``np.einsum("ij,j->i", A, x)`` and ``np.tensordot(A, x, axes=1)``; None where the text does not say the axes."""
    if not contracts(name):
        return None
    words = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
    args = [a.value for a in call.args if a.keyword is None and not a.star]
    if name.endswith("einsum"):
        if not args or not isinstance(args[0], cst.SimpleString) or set(words) - {"optimize"} or len(args) > 6:
            return None
        first = str(args[0].evaluated_value)
        text = f"jnp.einsum({first!r}, {', '.join(f'{{{n}}}' for n in range(len(args) - 1))})".replace("'", '"')
        operands = args[1:]
        if not operands or not set(first) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ,->. "):
            return None
    else:
        axes = words.get("axes") or (args[2] if len(args) == 3 else None)
        known = 2 if axes is None else _numbers(axes)
        if len(args) not in (2, 3) or known is None or set(words) - {"axes"}:
            return None
        spelled = f", axes={known if not isinstance(known, list) else _tuples(known)}"
        text, operands = f"jnp.tensordot({{0}}, {{1}}{spelled if axes is not None else ''})", args[:2]
    array = contracts_to_array(name, call)
    return h.Library(
        "contraction", tuple(whole(x) for x in operands), NUMBER, array, text, "bilinear", numpy=text, span=span
    )


def _tuples(found: Any) -> Any:
    return tuple(map(_tuples, found)) if isinstance(found, list) else found


def table(node: cst.BaseExpression, element: ScalarType | None, span: Any) -> h.Library | None:
    """``np.array([0, 1, -1])`` of numbers that the text gives; None for anything else."""
    found = _numbers(node)
    if not isinstance(found, list) or not _regular(found):
        return None
    flat = _flat(found)
    if element is None:
        element = ScalarType("int" if all(isinstance(x, int) for x in flat) else "float", 64)
    return h.Library("table", (), element, True, f"jnp.array({found}, jnp.{element})", span=span)


def listed(each: tuple[k.Expr, ...], span: Any) -> h.Library:
    """``np.array([a, b])`` of numbers that are computed."""
    text = f"jnp.array([{', '.join(f'{{{n}}}' for n in range(len(each)))}])"
    return h.Library("listed", each, NUMBER, True, text, "linear", span=span)


def _numbers(node: cst.BaseExpression) -> Any:
    """The value of lists and numbers, None where it is not known."""
    match node:
        case cst.Integer() | cst.Float():
            return node.evaluated_value
        case cst.UnaryOperation(operator=cst.Minus(), expression=inner):
            found = _numbers(inner)
            return None if found is None or isinstance(found, list) else -found
        case cst.List(elements=parts) | cst.Tuple(elements=parts):
            each = [_numbers(p.value) for p in parts]
            return None if any(x is None for x in each) else each
        case cst.BinaryOperation(left=left, operator=sign, right=right):
            one, two = _numbers(left), _numbers(right)
            if one is None or two is None:
                return None
            if isinstance(one, list) and isinstance(two, list):
                return one + two if isinstance(sign, cst.Add) else None
            if isinstance(one, list) or isinstance(two, list):
                return one * two if isinstance(sign, cst.Multiply) and isinstance(two, int) else None
            match sign:
                case cst.Add():
                    return one + two
                case cst.Subtract():
                    return one - two
                case cst.Multiply():
                    return one * two
                case cst.Divide() if two:
                    return one / two
    return None


def _flat(found: Any) -> list[Any]:
    return [x for each in found for x in _flat(each)] if isinstance(found, list) else [found]


def _regular(found: list[Any]) -> bool:
    """Do the rows of an array have one length?"""
    lists = [x for x in found if isinstance(x, list)]
    if not lists:
        return bool(found)
    return len(lists) == len(found) and len({len(x) for x in lists}) == 1 and all(map(_regular, lists))


def _axes(node: cst.BaseExpression) -> int | tuple[int, ...] | None:
    """The axis, or the axes, that an argument says."""
    if isinstance(node, cst.Tuple):
        each = [integer_literal(e.value) for e in node.elements]
        return tuple(n for n in each if n is not None) if each and None not in each else None
    return integer_literal(node)
