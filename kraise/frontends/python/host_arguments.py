"""The command line of a Python host function: ``sys.argv``, ``argparse``; its numbers are parameters.

Side conditions, checked: an option has the type of a number (``type=int``), or such a default; where a number has
another value without the command line, nothing uses that before.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import libcst as cst

from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, walk
from kraise.ir.host_names import fresh

CONVERSIONS = ("int", "float", "str", "bool", "eval")

_ENDS = ("exit", "quit", "sys.exit", "os._exit")


@dataclass
class Inputs:
    """What a function takes from outside: its new parameters, with their defaults; where each stood."""

    names: dict[str, cst.BaseExpression | None] = field(default_factory=dict)
    arrays: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)


class Arguments:
    """What a function reads of the command line; the reader of its statements supplies the rest."""

    source: Source
    imports: Imports
    found: Inputs
    times: Counter[str]
    taken: set[str]
    parsers: dict[str, dict[str, tuple[str, cst.BaseExpression | None]]]
    options: dict[str, str]  # the results of parse_args, and their parsers
    known: dict[tuple[str, str], str]  # their attributes: the parameters

    def parses(self, part: Any) -> bool:
        """Is it a statement of argparse? What it says is kept."""
        match part:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func) as call):
                if self.imports.qualified(dotted(func)) == "argparse.ArgumentParser":
                    self.parsers[name] = {}
                    return True
                owner, _, method = dotted(func).rpartition(".")
                if owner in self.parsers and method == "parse_args":
                    self.options[name] = owner
                    return True
                return False
            case cst.Expr(value=cst.Call(func=func) as call):
                owner, _, method = dotted(func).rpartition(".")
                if owner in self.parsers and method == "add_argument":
                    self._option(self.parsers[owner], call)
                return owner in self.parsers
        return False

    def _option(self, options: dict[str, tuple[str, cst.BaseExpression | None]], call: cst.Call) -> None:
        flags = [
            str(a.value.evaluated_value) for a in call.args if isinstance(a.value, cst.SimpleString) and not a.keyword
        ]
        words = {a.keyword.value: a.value for a in call.args if a.keyword is not None}
        long = [f for f in flags if f.startswith("--")] or flags
        if not long:
            return
        name = long[0].lstrip("-").replace("-", "_")
        if isinstance(words.get("dest"), cst.SimpleString):
            name = str(words["dest"].evaluated_value)  # type: ignore[attr-defined]
        default = words.get("default")
        action = words.get("action")
        if isinstance(action, cst.SimpleString) and action.evaluated_value in ("store_true", "store_false"):
            default = cst.Name(str(action.evaluated_value == "store_false"))
        options[name] = (dotted(words["type"]) if "type" in words else "str", default)

    def asks_for_arguments(self, test: cst.BaseExpression) -> bool:
        """``len(sys.argv) > 1``"""
        return any(
            isinstance(n, cst.Call) and dotted(n.func) == "len" and len(n.args) == 1
            and self.imports.qualified(dotted(n.args[0].value)) == "sys.argv"
            for n in walk(test)
        )  # fmt: skip

    def with_arguments(self, line: cst.If, inner: list[Any], before: list[Any]) -> list[Any]:
        """``if len(sys.argv) > 1: n = int(sys.argv[1])``, with or without an ``else`` or an ``n = 1000`` before."""
        other = line.orelse.body.body if isinstance(line.orelse, cst.Else) else []
        given = dict(a for s in inner if (a := _assigned(s)) is not None)
        if not given and any(dotted(n.func) in _ENDS for s in inner for n in all_of(cst.Call, s)):
            return list(other)  # how the program is called
        if len(given) != len(inner) or not all(map(self.of_arguments, given.values())):
            return [line]
        defaults: dict[str, cst.BaseExpression] = {}
        for name in given:
            first = next((n for n, s in enumerate(before) if (a := _assigned(s)) is not None and a[0] == name), None)
            since = [*before[first + 1 :], line.test] if first is not None else []
            places = [
                a[1] for s in ([before[first]] if first is not None else other) if (a := _assigned(s)) and a[0] == name
            ]
            used = any(n.value == name for s in since for n in all_of(cst.Name, s))
            if len(places) != 1 or not is_number(places[0]) or self.times[name] != 2 or used:
                return [line]
            defaults[name] = places[0]
        for name, default in defaults.items():
            self.parameter(name, default, array=False)
        before[:] = [s for s in before if (a := _assigned(s)) is None or a[0] not in given]
        return [s for s in other if (a := _assigned(s)) is None or a[0] not in given]

    def of_arguments(self, value: cst.BaseExpression) -> bool:
        """``int(sys.argv[1])``"""
        match value:
            case cst.Call(func=func, args=[cst.Arg(value=inner)]) if dotted(func) in CONVERSIONS:
                return self.of_arguments(inner)
            case cst.Subscript(value=inner):
                return self.imports.qualified(dotted(inner)) == "sys.argv"
        return False

    def change_of_option(self, node: cst.CSTNode, name: str = "") -> cst.CSTNode | None:
        """The parameter that stands for an option of the command line (``args.steps``)."""
        match node:
            case cst.Attribute(value=cst.Name(value=owner), attr=cst.Name(value=option)) if owner in self.options:
                if (owner, option) in self.known:
                    return cst.Name(self.known[owner, option])
                kind, default = self.parsers[self.options[owner]].get(option, ("", None))
                if kind not in ("int", "float", "bool") and not (default is not None and is_number(default)):
                    return node  # a text
                given = default if default is not None and dotted(default) != "None" else None
                wish = option if option == name or option not in self.taken else f"{owner}_{option}"
                found = self.parameter(wish, given, array=False)
                self.known[owner, option] = found.value
                return found
        return None

    def parameter(self, name: str, default: cst.BaseExpression | None, array: bool) -> cst.Name:
        """A new parameter, called ``name`` where no other value of the function is."""
        if name in self.found.names or self.times[name] > (2 if default is not None else 1):
            name = fresh(self.taken | set(self.found.names), f"{name}_given")
        self.found.names[name] = default
        if array:
            self.found.arrays.add(name)
        return cst.Name(name)


def _assigned(line: cst.CSTNode) -> tuple[str, cst.BaseExpression] | None:
    match line:
        case cst.SimpleStatementLine(
            body=[cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)]
        ):
            return name, value
    return None


def is_number(node: cst.BaseExpression) -> bool:
    match node:
        case cst.UnaryOperation(expression=inner):
            return is_number(inner)
        case cst.BinaryOperation(left=left, right=right):
            return is_number(left) and is_number(right)
    return isinstance(node, cst.Integer | cst.Float) or dotted(node) in ("True", "False")
