"""Functions that make functions, in Python host functions: ``step = make_stepper(n, dt)``, then ``step(u)``.

The statements of ``make_stepper`` stand where it is called, with names of their own for what it takes and sets; the
function that it returns is a local one.

Side conditions, checked: its last statement returns a function that it defines, or a lambda, and nothing else in it
returns; ``step`` is set once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import libcst as cst

from kraise.frontends.python.host_inlined import NotHere, arguments, renamed
from kraise.frontends.python.host_scope import HostScope
from kraise.frontends.python.host_units import Unit, assigned, of_lambda, unit
from kraise.frontends.python.source import dotted, walk
from kraise.ir.host_names import fresh


def makers(functions: Iterable[cst.FunctionDef]) -> dict[str, cst.FunctionDef]:
    """Those of some functions that return a function of theirs."""
    found: dict[str, cst.FunctionDef] = {}
    for node in functions:
        lines = list(node.body.body) if isinstance(node.body, cst.IndentedBlock) else []
        inner = {f.name.value for f in lines if isinstance(f, cst.FunctionDef)}
        match lines[-1:]:
            case [cst.SimpleStatementLine(body=[cst.Return(value=cst.Name(value=name))])] if name in inner:
                pass
            case [cst.SimpleStatementLine(body=[cst.Return(value=cst.Lambda())])]:
                pass
            case _:
                continue
        others = [n for s in lines[:-1] if not isinstance(s, cst.FunctionDef) for n in walk(s)]
        plain = node.params.star_kwarg is None and not isinstance(node.params.star_arg, cst.Param)
        if plain and not node.decorators and not any(isinstance(n, _LEFT) for n in others):
            found[node.name.value] = node
    return found


_LEFT = (cst.Return, cst.Yield, cst.Global, cst.Nonlocal, cst.ClassDef)


class Closures:
    """The part that knows them; :class:`kraise.frontends.python.host_written.Written` has the rest."""

    scope: HostScope
    units: dict[str, Unit]
    taken: set[str]
    own: set[str]
    own_times: Any
    block: Any
    flushed: Any
    expression: Any
    line: Any
    placed: Any

    def closure(self, name: str, call: cst.Call) -> list[Any] | None:
        """The statements of ``name = make(…)``; None for a call of anything else."""
        node = self.scope.makers.get(dotted(call.func))
        if node is None or self.own_times(name) != 1 or dotted(call.func) in self.own:
            return None
        every = (*node.params.posonly_params, *node.params.params, *node.params.kwonly_params)
        given = arguments([(p.name.value, p.default) for p in every], call.args)
        if given is None:
            return None
        names: dict[str, Any] = {}
        lines: list[Any] = []
        for param, value in given.items():
            names[param] = self.named(param)
            made = cst.Assign([cst.AssignTarget(names[param])], self.expression(value))
            lines.append(self.line(self.placed(made, call), call))
        *body, last = node.body.body
        sets = {n for s in body if not isinstance(s, cst.FunctionDef) for n in assigned(s)}
        for local in sorted(sets - set(names)):
            names[local] = self.named(local)
        functions = {f.name.value: f for f in body if isinstance(f, cst.FunctionDef)}
        for local in functions:
            names[local] = self.named(local)
        lines = [*self.flushed(), *lines]
        for statement in body:
            new = renamed(self.scope.source, statement, names)
            if isinstance(new, cst.FunctionDef):
                made_unit = unit(new, local=True)
                if made_unit is None:
                    raise NotHere
                self.units[made_unit.name] = made_unit
            else:
                lines += self.block([new])
        result = renamed(self.scope.source, last.body[0].value, names)  # type: ignore[union-attr]
        if isinstance(result, cst.Lambda):
            found = of_lambda(name, result, local=True)
            if found is None:
                return None
            self.units[name] = found
        else:
            self.units[name] = replace(self.units[result.value], name=name)
        self.scope.written.add(node.name.value)
        return lines

    def named(self, wish: str) -> cst.Name:
        """A name that nothing has."""
        own = fresh(self.taken, wish)
        self.taken.add(own)
        self.own.add(own)
        return cst.Name(own)
