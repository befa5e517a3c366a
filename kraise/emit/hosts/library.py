"""Spellings of library calls (grammar/host_library.toml) with their operands."""

from __future__ import annotations

import ast
import re

from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py, flat

_OPERAND = re.compile(r"\{(\d)\}")
_SYMBOLS = {"Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "MatMult": "@", "Pow": "**"}


def fill_any(text: str, args: list[Py]) -> Py:
    """A spelling of grammar/host_library.toml with its operands: a call, ``@``, an attribute."""

    def piece(node: ast.expr) -> Py | py.Slice:
        if isinstance(node, ast.Slice):
            return py.Slice(*(build(p) if p is not None else None for p in (node.lower, node.upper, node.step)))
        return build(node)

    def build(node: ast.expr) -> Py:
        match node:
            case ast.Name(id=name) if name[0] == "_" and name[1:].isdigit():
                return args[int(name[1:])]
            case ast.Name(id=name):
                return Atom(name)
            case ast.Constant(value=value):
                if isinstance(value, str):
                    return Atom(f'"{value}"')
                if value is None or isinstance(value, bool):
                    return Atom(str(value))
                return Atom("...") if value is ... else py.number(value)  # type: ignore[arg-type]
            case ast.Attribute(value=inner, attr=attr):
                found = build(inner)
                return Atom(f"{found.text}.{attr}") if isinstance(found, Atom) else py.Attr(found, attr)
            case ast.Call(func=func, args=given, keywords=keywords):
                named = tuple((str(w.arg), build(w.value)) for w in keywords)
                return py.Call(build(func), tuple(build(a) for a in given), named)
            case ast.BinOp(op=symbol, left=left, right=right):
                return py.Bin(_SYMBOLS[type(symbol).__name__], build(left), build(right))
            case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
                return py.Bin("==", build(left), build(right))
            case ast.Subscript(value=inner, slice=where):
                places = where.elts if isinstance(where, ast.Tuple) else [where]
                return taken(build(inner), tuple(piece(p) for p in places))
            case ast.Tuple(elts=parts):
                return py.Tup(tuple(build(p) for p in parts))
            case ast.List(elts=parts):
                return Atom(f"[{', '.join(flat(build(p)) for p in parts)}]")
            case ast.UnaryOp(operand=operand):
                return py.Un("-", build(operand))
        raise TypeError(ast.dump(node))

    return build(ast.parse(_OPERAND.sub(r"_\1", text), mode="eval").body)


def taken(value: Py, items: tuple[Py, ...]) -> Py:
    """``value[items]``; a slice of the first axis joins what leaves that axis alone (``x[:n, 0]``)."""
    sliced = isinstance(value, py.Sub) and len(value.items) == 1 and isinstance(value.items[0], py.Slice)
    if sliced and len(items) > 1 and items[0] == py.Slice():
        return py.Sub(value.value, (value.items[0], *items[1:]))  # type: ignore[union-attr]
    return py.Sub(value, items)
