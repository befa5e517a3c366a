"""What each round of a loop would make anew of arrays that it leaves alone: a matrix of a buffer, made before the loop.

The gradient of a slice or of a reshape fills a whole array, once a round where it stands in the round.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from kraise.emit.blocks import Assign, Def, Do, Raw, Stmt
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py, flat

_NAME = re.compile(r"(?<![\w.])[A-Za-z_]\w*")


def hoisted(lines: list[Stmt], bound: set[str], fresh: Callable[[str], str]) -> tuple[list[Stmt], list[Stmt]]:
    """What goes before a loop, and a round's lines without it; a round binds ``bound`` and what its lines bind."""
    own = bound | bound_by(lines)
    before: dict[Py, str] = {}
    kept: list[Stmt] = []
    first: list[Stmt] = []
    for line in lines:  # a variable of an inner loop's moves as it is
        if isinstance(line, Assign) and line.target and _is_view(line.value) and not _names(line.value) & own:
            before[line.value] = line.target
            first.append(line)
        else:
            kept.append(line)

    def change(node: Py) -> Py:
        if not _is_view(node) or _names(node) & own:
            return node
        if node not in before:
            before[node] = fresh(f"{_array(node)}2")
            first.append(Assign(before[node], node))
        return Atom(before[node])

    return first, [mapped(line, change) for line in kept]


def mapped(line: Stmt, change: Callable[[Py], Py]) -> Stmt:
    """The statement with ``change`` in what every round computes: what an ``if`` may pass over stays."""
    match line:
        case Assign(value=value) | Do(value=value) if not _chooses(value):
            return replace(line, value=py.mapped(value, change))
        case Def(body=body):
            return replace(line, body=[mapped(s, change) for s in body])
    return line


def _chooses(node: Py) -> bool:
    found: list[Py] = []

    def look(part: Py) -> Py:
        found.extend([part] if isinstance(part, py.IfExp) else [])
        return part

    py.mapped(node, look)
    return bool(found)


def _is_view(node: Py) -> bool:
    """``x[:n].reshape(r, c)`` of an array ``x``."""
    match node:
        case py.Call(func=py.Attr(value=py.Sub(value=Atom(text=name)), name="reshape")):
            return name.isidentifier()
    return False


def _array(node: Py) -> str:
    assert isinstance(node, py.Call) and isinstance(node.func, py.Attr) and isinstance(node.func.value, py.Sub)
    return flat(node.func.value.value)


def _names(node: Py) -> set[str]:
    return set(_NAME.findall(flat(node)))


def bound_by(lines: list[Stmt]) -> set[str]:
    """The names to which statements give a value."""
    found: set[str] = set()
    for line in lines:
        match line:
            case Assign(target=str() as target):
                found.update(_NAME.findall(target))
            case Raw(text=text, body=body):
                found.update(_NAME.findall(text) if text.startswith("for ") else ())
                found |= bound_by(body)
            case Def(name=name, parameters=parameters, body=body):
                found |= {name, *parameters} | bound_by(body)
    return found


__all__ = ["bound_by", "hoisted", "mapped"]
