"""Is what a loop of a Python host function keeps of each round an array of that round, and no one else's?

``kept.append(h)`` keeps ``h`` itself: where a later round changes it in place, the list sees the change. It is an array
of the round where the round makes it anew (``h = d.copy_to_host()``) before it is kept, and changes it in place only
between.
"""

from __future__ import annotations

from typing import Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python.host_parts import base
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.source import dotted, walk

_VIEWS = ("array.reshape", "array.ravel", "array.view", "array.squeeze", "array.transpose", "array.swapaxes")
_CHANGES = ("fill", "sort", "copy_to_device", "put", "resize", "partition", "itemset")


def of_round(scope: HostScope, node: cst.FunctionDef, body: list[Any], at: int, value: cst.BaseExpression) -> bool:
    """Is the ``value`` that the statement ``at`` of a loop's ``body`` keeps an array of this round?"""
    whose = _seen(scope, value)
    if not whose or whose not in scope.arrays:
        return True
    made = [n for n in range(at) if (v := _assigned(body[n], whose)) is not None and not _seen(scope, v)]
    if not made:
        return False
    between = {id(n) for line in body[made[-1] : at + 1] for n in walk(line)}
    return not any(_changes(scope, n, whose) for n in walk(node.body) if id(n) not in between)


def made_of(body: list[Any], at: int, value: cst.BaseExpression) -> cst.BaseExpression:
    """What a name that the statement ``at`` of a loop's ``body`` keeps was made of before it; the value itself for
    another."""
    whose = dotted(value)
    found = [v for line in body[:at] if whose and (v := _assigned(line, whose)) is not None]
    return found[-1] if found else value


def _seen(scope: HostScope, value: cst.BaseExpression) -> str:
    """The array whose memory a value sees; "" where it has its own."""
    match value:
        case cst.Name() | cst.Subscript() | cst.Attribute():
            return base(value)
        case cst.IfExp(body=body, orelse=orelse):
            return _seen(scope, body) or _seen(scope, orelse)
        case cst.Call(func=func, args=args):
            called = scope.qualified(func)
            concept = dialects.table("host_library")["python"].get(called, "")
            if called in _VIEWS and isinstance(func, cst.Attribute):
                return base(func.value)
            if concept == "alias" or (concept == "fetch" and args) or called == "cupy.asarray":
                return base(args[0].value) if args else ""
    return ""


def _assigned(line: Any, name: str) -> cst.BaseExpression | None:
    match line:
        case cst.SimpleStatementLine(body=[cst.Assign(targets=[cst.AssignTarget(target=target)], value=value)]) if (
            dotted(target) == name
        ):
            return value
    return None


def _changes(scope: HostScope, node: cst.CSTNode, name: str) -> bool:
    """May a node change an array in place?"""
    match node:
        case cst.AugAssign(target=target) | cst.AssignTarget(target=cst.Subscript() as target):
            return base(target) == name
        case cst.Call(func=cst.Attribute(value=owner, attr=cst.Name(value=method))) if dotted(owner) == name:
            return method in _CHANGES
        case cst.Call(func=func, args=args):
            known = dotted(func) and scope.qualified(func) and not scope.qualified(func).startswith("array.")
            known = known and dotted(func) not in {*scope.hosts, *scope.functions, *scope.host_units, *scope.units}
            writes = isinstance(func, cst.Attribute) and func.attr.value in ("copy_to_host", "at", "copyto", "put")
            words = {a.keyword.value for a in args if a.keyword is not None}
            if known and not writes and "out" not in words:
                return False
            reads = isinstance(func, cst.Attribute) and scope.is_array(func.value) and not writes
            return not reads and any(base(a.value) == name for a in args)
    return False
