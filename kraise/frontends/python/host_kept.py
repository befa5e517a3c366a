"""Lists of Python host functions that only keep records: ``losses = []``, ``losses.append(loss)``.

Where nothing reads them but what is printed, neither has a part in the values.

Side condition, checked: what is appended calls nothing that changes a value.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import all_of, dotted, walk

_READS = frozenset(("copy_to_host", "sum", "mean", "max", "min", "item", "copy", "get", "std", "dot"))
_SAYS = frozenset(("print", "logging.info", "logger.info", "log.info"))


def without_records(body: list[Any], imports: Imports) -> list[Any]:
    """Statements without such lists."""
    uses: Counter[str] = Counter()
    starts: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    for line in body:
        for inner in walk(line):
            match inner:
                case cst.Name(value=name):
                    uses[name] += 1
                case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.List(elements=[])):
                    starts[name] += 1
                case cst.Expr(value=cst.Call(func=func, args=args)) if dotted(func) in _SAYS:
                    kept.update(n.value for a in args for n in all_of(cst.Name, a))
                case cst.Expr(value=cst.Call() as call) if name := appended(call, imports):
                    kept[name] += 1
    body = [new for line in body for new in _without_unused(line, uses, imports)]
    names = {n for n, count in starts.items() if count == 1 and uses[n] == kept[n] + 1}
    return [new for line in body for new in _without(line, names, imports)] if names else body


def _without_unused(line: Any, uses: Counter[str], imports: Imports) -> list[Any]:
    """A statement without the numbers, generators and arrays that a library makes and nobody uses."""
    match line:
        case cst.SimpleStatementLine(body=[
            cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call() as value)
        ]) if uses[name] == 1 and all(reads(n, imports) for n in all_of(cst.Call, value)):  # fmt: skip
            return []
    return [line]


def appended(call: cst.Call, imports: Imports) -> str:
    """The list that ``losses.append(loss)`` makes longer; "" for a call of anything else, or of a value that changes
    something."""
    match call:
        case cst.Call(
            func=cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="append")), args=[cst.Arg(value=value)]
        ) if all(reads(n, imports) for n in all_of(cst.Call, value)):
            return name
    return ""


def reads(call: cst.Call, imports: Imports) -> bool:
    """Is this a call that only reads?"""
    if imports.qualified(dotted(call.func)).startswith(("builtins.", "math.", "numpy.", "cupy.", "time.")):
        return True
    return isinstance(call.func, cst.Attribute) and call.func.attr.value in _READS and not call.args


def _without(line: Any, names: set[str], imports: Imports) -> list[Any]:
    match line:
        case cst.SimpleStatementLine(body=parts):
            left = [p for p in parts if not _drops(p, names, imports)]
            return [line] if len(left) == len(parts) else [line.with_changes(body=left)] if left else []
    changes: dict[str, Any] = {}
    for name in ("body", "orelse", "finalbody"):
        part = getattr(line, name, None)
        if isinstance(part, cst.IndentedBlock):
            inner = [new for x in part.body for new in _without(x, names, imports)]
            changes[name] = part.with_changes(body=inner or [cst.SimpleStatementLine([cst.Pass()])])
        elif isinstance(part, cst.Else | cst.Finally) and isinstance(part.body, cst.IndentedBlock):
            inner = [new for x in part.body.body for new in _without(x, names, imports)]
            changes[name] = part.with_changes(
                body=part.body.with_changes(body=inner or [cst.SimpleStatementLine([cst.Pass()])])
            )
        elif isinstance(part, cst.If):
            changes[name] = _without(part, names, imports)[0]
    mentions = any(n.value in names for n in all_of(cst.Name, line))
    return [line.with_changes(**changes)] if changes and mentions else [line]


def _drops(small: Any, names: set[str], imports: Imports) -> bool:
    match small:
        case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.List(elements=[])):
            return name in names
        case cst.Expr(value=cst.Call() as call):
            return appended(call, imports) in names
    return False


def without_nones(lines: list[Any]) -> list[Any]:
    """Statements without ``x = None`` where ``x`` gets another value before anything reads it."""
    out: list[Any] = []
    for at, line in enumerate(lines):
        match line:
            case cst.SimpleStatementLine(
                body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Name(value="None"))]
            ) if _set_first(lines[at + 1 :], name):
                continue
        out.append(line)
    return out


def _set_first(lines: list[Any], name: str) -> bool:
    """Is the first thing that statements do with a name, on every way, to give it another value?"""
    for line in lines:
        if any(n.value == name for n in all_of(cst.Name, line)):
            match line:
                case cst.SimpleStatementLine(
                    body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=own))], value=value)]
                ):
                    again = any(n.value == name for n in all_of(cst.Name, value))
                    return own == name and not again and not (isinstance(value, cst.Name) and value.value == "None")
            return False
    return False
