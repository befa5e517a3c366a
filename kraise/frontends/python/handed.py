"""Parameters that are handed an array which each round makes (``for …: new = np.zeros_like(u); …; u = new``).

The caller's array is never written to: the name stands for it until the first round ends. ``u = u.copy()`` before
anything else says so, and the name is one of the function's own from there on (see :mod:`spelled`).

Side conditions, checked: the parameter is bound by nothing else, no part of it is stored to, and no function of the
file is given it; all that it is handed is made here, by calls that make new arrays.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python.scope import bindings
from kraise.frontends.python.shared_memory import changed_in
from kraise.frontends.python.source import Source, all_of, dotted, placed

_MAKE = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like", "copy")


def with_copies(parsed: Source, node: cst.FunctionDef) -> cst.FunctionDef:
    """The function with such copies of its parameters at its head; itself where it has none."""
    names = [n for n in (p.name.value for p in all_of(cst.Param, node.params)) if n in _handed(node)]
    if not names:
        return node
    head = 1 if node.get_docstring(clean=False) is not None else 0
    body: list[Any] = list(node.body.body)
    at = node.name
    for name in names:
        made = placed(parsed, cst.Call(placed(parsed, cst.Attribute(cst.Name(name), cst.Name("copy")), at)), at)
        line = placed(parsed, cst.Assign([cst.AssignTarget(placed(parsed, cst.Name(name), at))], made), at)
        body.insert(head, placed(parsed, cst.SimpleStatementLine([line]), at))
    return placed(parsed, node.with_changes(body=node.body.with_changes(body=body)), node)  # type: ignore[no-any-return]


def _handed(node: cst.FunctionDef) -> set[str]:
    """The parameters that a loop hands a new array."""
    times = bindings(node.body)
    params = {p.name.value for p in all_of(cst.Param, node.params)}
    given = _given(node.body, params)
    if not given:
        return set()
    made: Counter[str] = Counter()
    for assign in all_of(cst.Assign, node.body):
        match assign:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func)):
                last = func.attr.value if isinstance(func, cst.Attribute) else dotted(func)
                made[name] += last in _MAKE
    looped = {n for s in all_of(cst.For | cst.While, node.body) for n in bindings(s.body)}
    lent = {
        a.value.value
        for c in all_of(cst.Call, node.body)
        if isinstance(c.func, cst.Name) and c.func.value != "len"
        for a in c.args
        if isinstance(a.value, cst.Name)
    }
    kept = params - changed_in(node) - lent
    return {
        name
        for name, others in given.items()
        if name in kept & looped
        and len(others) == times[name]
        and all(made[y] == times[y] and y in looped and y not in params for y in others)
    }


def _given(body: cst.BaseSuite, params: set[str]) -> dict[str, list[str]]:
    """What each parameter is handed, where that is the name of something else."""
    found: dict[str, list[str]] = {}
    for assign in all_of(cst.Assign, body):
        match assign:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Name(value=other)) if (
                name in params and other != name
            ):
                found.setdefault(name, []).append(other)
    return found
