"""Calls that return arrays of structs: their members are bound one by one."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.ir import hosted as o


@dataclass(frozen=True)
class Structured(py.Call):
    """A call whose one result is a named tuple."""


def targets(names: list[str], value: object) -> str:
    """What a call binds: the members of a result in parentheses, unless it is the only one."""
    groups = value.groups if isinstance(value, o.Call) and not value.fields else ()
    if len(groups) < 2:
        return ", ".join(names)
    rest = iter(names)
    parts = [[next(rest) for _ in range(n)] for n in groups]
    return ", ".join(p[0] if len(p) == 1 else f"({', '.join(p)})" for p in parts)


def called(value: py.Call, call: o.Call) -> Py:
    """The call, marked where it returns a named tuple; of a dataclass, its field."""
    if len(call.fields) == 1:
        return py.Attr(value, call.fields[0])
    single = not call.fields and len(call.groups) == 1 and call.groups[0] > 1
    return Structured(value.func, value.args, value.keywords) if single else value


def fields(name: str, call: o.Call) -> Py:
    """The fields that are taken of a dataclass with a name."""
    return py.Tup(tuple(py.Attr(Atom(name), f) for f in call.fields))


def result(value: Py) -> Py:
    """A call that is returned as it is: a plain tuple."""
    return py.Call(Atom("tuple"), (value,)) if isinstance(value, Structured) else value
