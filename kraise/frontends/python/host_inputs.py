"""What a Python host function takes from outside the program: its parameters.

Random numbers (``x = np.random.rand(n)``), files (``np.load(…)``), the command line (``int(sys.argv[1])``, the options
of argparse) and what is typed in (``input()``) become parameters with the names that the function gives them; what is
done with them on the same line stays (``.astype(np.float32)``). A number that has another value without the command
line (``int(sys.argv[1]) if len(sys.argv) > 1 else 1000``, ``default=1000``) has that as its default.

Side conditions, checked: it stands in no function of its own, and in no loop but those over numbers; what decides on
the numbers, beside their count, is written out as a number (a parameter would cut the derivative by it).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise import dialects
from kraise.frontends.python.host_arguments import CONVERSIONS, Arguments, Inputs, is_number
from kraise.frontends.python.host_rounds import integer, number
from kraise.frontends.python.host_units import times_set
from kraise.frontends.python.names import Imports
from kraise.frontends.python.source import Source, all_of, dotted, placed, rebuilt, walk
from kraise.ir import host as h
from kraise.ir.host_names import fresh, read_within

_COUNTS = ("rand", "randn", "random", "random_sample", "standard_normal", "standard_exponential", "ranf", "sample")
_SIZE_AT = {
    "uniform": 2, "normal": 2, "randint": 2, "integers": 2, "gamma": 2, "beta": 2, "lognormal": 2, "exponential": 1,
    "poisson": 1, "choice": 1, "permutation": 1, "randrange": 2, "gauss": 2, "laplace": 2,
}  # fmt: skip
_MAKERS = ("numpy.random.default_rng", "numpy.random.RandomState", "numpy.random.Generator", "cupy.random.default_rng",
           "cupy.random.RandomState", "random.Random")  # fmt: skip
_APART = (cst.For, cst.While, cst.FunctionDef, cst.ClassDef, cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp)


def with_inputs(
    source: Source, imports: Imports, node: cst.FunctionDef, asked: Mapping[str, Inputs]
) -> tuple[cst.FunctionDef, Inputs]:
    """The function with a parameter for each value from outside, also for those of the functions ``asked`` that it
    calls."""
    found = Inputs()
    if not isinstance(node.body, cst.IndentedBlock) or not _mentions_outside(imports, node, asked):
        return node, found
    body = _Reader(source, imports, node, found, asked).block(node.body.body)
    if not found.names:
        return node, found
    params = []
    own = {p.name.value for p in (*node.params.params, *node.params.kwonly_params)}
    wanted = [(n, d) for n, d in found.names.items() if n not in own]
    for name, default in sorted(wanted, key=lambda x: x[1] is not None):
        params.append(cst.Param(cst.Name(name), default=default))
    first = node.params.params
    at = next((n for n, p in enumerate(first) if p.default is not None), len(first))
    plain = [p for p in params if p.default is None]
    other = [p for p in params if p.default is not None]
    given = [*first[:at], *plain, *first[at:], *other]
    new = node.with_changes(
        params=node.params.with_changes(params=[p.with_changes(comma=cst.MaybeSentinel.DEFAULT) for p in given]),
        body=node.body.with_changes(body=body or [cst.SimpleStatementLine([cst.Pass()])]),
    )
    for p in params:
        for part in (p, p.name):
            source.positions.setdefault(part, source.positions[node.name])
    for a, b in zip(new.params.params, given, strict=True):
        placed(source, a, b)
    return placed(source, new, node), found


def noted(host: h.Host, inputs: Inputs) -> h.Host:
    """The host function without those of the new parameters that have no part in its values."""
    if not inputs.names:
        return host
    names = read_within(host.body)
    return replace(host, params=tuple(p for p in host.params if p.name in names or p.name not in inputs.names))


def _mentions_outside(imports: Imports, node: cst.FunctionDef, asked: Mapping[str, Inputs]) -> bool:
    for inner in walk(node.body):
        if isinstance(inner, cst.Call) and (name := dotted(inner.func)):
            called = imports.qualified(name)
            if (
                name in asked
                or name == "input"
                or outside(called)
                or called.startswith("argparse.")
                or called in _MAKERS
            ):
                return True
        if isinstance(inner, cst.Attribute) and imports.qualified(dotted(inner)) == "sys.argv":
            return True
    return False


def outside(name: str) -> bool:
    """Does a function of this qualified name take its result from outside the program?"""
    return any(
        name == p or (p.endswith("*") and name.startswith(p[:-1])) for p in dialects.table("host_library")["outside"]
    )


def _counted_from(over: cst.BaseExpression) -> cst.BaseExpression | None:
    """The first number of a loop that counts by one, over ``range`` or numbers that stand there; None for another."""
    match over:
        case cst.Call(func=cst.Name(value="range"), args=[_]):
            return cst.Integer("0")
        case cst.Call(func=cst.Name(value="range"), args=[first, _]):
            return first.value
        case cst.Tuple(elements=parts) | cst.List(elements=parts):
            numbers = [number(p.value) for p in parts]
            if numbers and numbers[0] is not None and numbers == list(range(numbers[0], numbers[0] + len(numbers))):
                return integer(numbers[0])
    return None


class _Reader(Arguments):
    def __init__(
        self,
        source: Source,
        imports: Imports,
        node: cst.FunctionDef,
        found: Inputs,
        asked: Mapping[str, Inputs],
    ):
        self.source, self.imports, self.found, self.asked = source, imports, found, asked
        self.times: Counter[str] = times_set(node)
        self.own = {p.name.value for p in (*node.params.params, *node.params.kwonly_params)}
        words = {id(n.attr) for n in all_of(cst.Attribute, node)}
        words |= {id(n.keyword) for n in all_of(cst.Arg, node)}
        self.taken = {n.value for n in all_of(cst.Name, node) if id(n) not in words}
        self.rounds: list[cst.BaseExpression] = []  # the numbers of the rounds of the loops around
        self.rngs = {
            n.targets[0].target.value  # type: ignore[attr-defined]
            for n in all_of(cst.Assign, node.body)
            if len(n.targets) == 1 and isinstance(n.targets[0].target, cst.Name)
            and isinstance(n.value, cst.Call) and imports.qualified(dotted(n.value.func)) in _MAKERS
            and not self._of_parameters(n.value)
        }  # fmt: skip
        self.parsers: dict[str, dict[str, tuple[str, cst.BaseExpression | None]]] = {}
        self.options: dict[str, str] = {}  # the results of parse_args, and their parsers
        self.known: dict[tuple[str, str], str] = {}  # their attributes: the parameters

    # --- statements

    def block(self, lines: Any) -> list[Any]:
        """The statements of a block without what only reads from outside."""
        out: list[Any] = []
        for line in lines:
            out += self.line(line, out)
        return out

    def line(self, line: Any, before: list[Any]) -> list[Any]:
        """One statement: those that stand for it. ``before`` are those of its block that stand before it."""
        match line:
            case cst.SimpleStatementLine(body=[part]):
                if self.parses(part):
                    return []
                new = self._simple(part)
                if new is part:
                    return [line]
                return [] if new is None else [placed(self.source, line.with_changes(body=[new]), line)]
            case cst.If(test=test, body=cst.IndentedBlock(body=inner)) if self.asks_for_arguments(test):
                return self.with_arguments(line, list(inner), before)
            case cst.If() | cst.With() | cst.Try() | cst.Else():
                return [self._inner(line)]
            case cst.For() | cst.While():
                line = rebuilt(self.source, line, self.change_of_option)
                return [self._rounds(line)]
        return [line]

    def _rounds(self, line: Any) -> Any:
        """A loop over numbers: what each round takes from outside is one array of all rounds, with an axis a loop."""
        match line:
            case cst.For(target=cst.Name(value=var), iter=over, body=cst.IndentedBlock(body=inner), orelse=None) if (
                start := _counted_from(over)
            ) is not None and not any(var in times_set(s) for s in inner):
                counter = cst.Name(fresh(self.taken, "round_")) if var == "_" else cst.Name(var)
                at: Any = counter
                if not isinstance(start, cst.Integer) or start.evaluated_value:
                    at = cst.BinaryOperation(counter, cst.Subtract(), start)
                self.rounds.append(placed(self.source, at, line))
                block = line.body.with_changes(body=self.block(inner) or [cst.SimpleStatementLine([cst.Pass()])])
                self.rounds.pop()
                new = line.with_changes(body=block, target=placed(self.source, counter, line.target))
                return placed(self.source, new, line)
        return line

    def _inner(self, line: Any) -> Any:
        changes: dict[str, Any] = {}
        body = getattr(line, "body", None)
        if isinstance(body, cst.IndentedBlock):
            changes["body"] = body.with_changes(body=self.block(body.body) or [cst.SimpleStatementLine([cst.Pass()])])
        orelse = getattr(line, "orelse", None)
        if isinstance(orelse, cst.If | cst.Else):
            changes["orelse"] = placed(self.source, self._inner(orelse), orelse)
        if isinstance(line, cst.If):
            changes["test"] = self._expression(line.test, "")
        return placed(self.source, line.with_changes(**changes), line)

    def _simple(self, part: Any) -> Any:
        """A simple statement with parameters for what it takes from outside; None where nothing is left of it."""
        match part:
            case cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=cst.Call(func=func)) if (
                self.imports.qualified(dotted(func)) in _MAKERS and name in self.rngs
            ):
                return None
            case (
                cst.Assign(targets=[cst.AssignTarget(target=cst.Name(value=name))], value=value)
                | cst.AnnAssign(target=cst.Name(value=name), value=value)
            ) if value is not None:
                new = self._expression(value, name)
                if new is value:
                    return part
                if isinstance(new, cst.Name) and new.value == name and self.times[name] == 1:
                    return None
                return placed(self.source, part.with_changes(value=new), part)
            case cst.Assign() | cst.AugAssign() | cst.Return() | cst.Expr(value=cst.Call()):
                if isinstance(part, cst.Expr) and self._is_seed(part.value):
                    return None
                return rebuilt(self.source, part, self._change(""))
        return part

    def _is_seed(self, call: Any) -> bool:
        name = self.imports.qualified(dotted(call.func)) if isinstance(call, cst.Call) else ""
        return name.rpartition(".")[2] == "seed" and "random" in name and not self._of_parameters(call)

    def _of_parameters(self, call: cst.Call) -> bool:
        """Is a call given a parameter of the function (the seed of its random numbers)?"""
        return any(n.value in self.own for a in call.args for n in all_of(cst.Name, a.value))

    # --- expressions

    def _expression(self, value: Any, name: str) -> Any:
        return rebuilt(self.source, value, self._change(name))

    def _change(self, name: str) -> Any:
        """What stands in place of a node of an expression whose value gets ``name``."""

        def change(node: cst.CSTNode) -> cst.CSTNode | None:
            match node:
                case cst.IfExp(test=test, body=body, orelse=orelse) if self.asks_for_arguments(test):
                    default = body if self.of_arguments(orelse) else orelse
                    if self.of_arguments(orelse if default is body else body) and is_number(default):
                        return self.parameter(name or "argument", default, array=False)
                    return node
                case cst.Call() if self.of_arguments(node):
                    return self.parameter(name or "argument", None, array=False)
                case cst.Call(func=cst.Name(value=conversion), args=[cst.Arg(value=cst.Call(func=func))]) if (
                    conversion in CONVERSIONS and dotted(func) == "input"
                ):
                    return self.parameter(name or "given", None, array=False)
                case cst.Attribute():
                    return self.change_of_option(node, name)
                case cst.Call(func=func) if self._is_outside(func) and self._is_settled(node) and self.rounds:
                    all_rounds = self.parameter(f"{name or 'drawn'}_rounds", None, array=True)
                    places = [cst.SubscriptElement(cst.Index(r)) for r in self.rounds]
                    if len(places) > 1 and not self.gives_number(node):  # an array, for certain
                        places.append(cst.SubscriptElement(cst.Index(cst.Ellipsis())))
                    each: Any = cst.Subscript(all_rounds, places)
                    if not self.gives_number(node):  # memory of its own
                        each = cst.Call(cst.Attribute(placed(self.source, each, node), cst.Name("copy")))
                    return placed(self.source, each, node)
                case cst.Call(func=cst.Name(value=called)) if called in self.asked and self.rounds:
                    return node
                case cst.Call(func=cst.Name(value=called), args=args) if called in self.asked:
                    words = {a.keyword.value for a in args if a.keyword is not None}
                    more = [
                        cst.Arg(self.parameter(n, d, array=n in self.asked[called].arrays), keyword=cst.Name(n))
                        for n, d in self.asked[called].names.items()
                        if n not in words
                    ]
                    given = [rebuilt(self.source, a, change) for a in args]
                    own = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in given]
                    return placed(self.source, node.with_changes(args=[*own, *more]), node)
                case cst.Call(func=func) if self._is_outside(func) and self._is_settled(node):
                    return self.parameter(name or "drawn", None, array=not self.gives_number(node))
            return node if isinstance(node, _APART) else None

        return change

    def _is_outside(self, func: cst.BaseExpression) -> bool:
        name = dotted(func)
        head = name.partition(".")[0]
        match func:  # np.random.default_rng(0).random(n)
            case cst.Attribute(value=cst.Call(func=maker) as made):
                return self.imports.qualified(dotted(maker)) in _MAKERS and not self._of_parameters(made)
        if self.imports.qualified(name) in _MAKERS:
            return False
        return (head in self.rngs and "." in name) or outside(self.imports.qualified(name))

    def _is_settled(self, call: cst.Call) -> bool:
        """Are all numbers that decide on the values, beside their count, written out?"""
        name = call.func.attr.value if isinstance(call.func, cst.Attribute) else dotted(call.func)
        qualified = self.imports.qualified(dotted(call.func))
        if qualified and "random" not in qualified and dotted(call.func).partition(".")[0] not in self.rngs:
            return not any(isinstance(n, cst.Subscript) for a in call.args for n in walk(a.value))  # a file
        if name in _COUNTS:
            return True
        if name not in _SIZE_AT:
            return False
        for at, a in enumerate(call.args):
            word = a.keyword.value if a.keyword is not None else ""
            if word in ("size", "dtype") or (not word and at == _SIZE_AT[name]) or is_number(a.value):
                continue
            whole = name in ("randint", "integers")  # has no derivative
            known = isinstance(a.value, cst.Name) and a.value.value not in self.own | set(self.times)
            if not known and not (whole and isinstance(a.value, cst.Name)):
                return False
        return True

    def gives_number(self, call: cst.Call) -> bool:
        """Does a call give one number?"""
        name = call.func.attr.value if isinstance(call.func, cst.Attribute) else dotted(call.func)
        qualified = self.imports.qualified(dotted(call.func))
        if qualified.startswith("random."):
            return name not in ("sample", "choices")
        if any(a.keyword is not None and a.keyword.value in ("size", "shape") for a in call.args):
            return False
        if name in _COUNTS:
            return not call.args
        if name in ("randint", "integers", "uniform", "normal"):
            return len([a for a in call.args if a.keyword is None]) < 3
        return False
