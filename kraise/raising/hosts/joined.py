"""A kernel that is launched with one array for several parameters, as a kernel of its own: ``add(x, y, x)``.

The parameters become one, and the kernel with it is raised like any other: where a thread reads what another writes it
is refused as a race, and so is the launch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kraise.diagnostics.collect import guard
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.joined import joined
from kraise.raising.hosts.effects import Function, effects
from kraise.raising.hosts.state import State, View

if TYPE_CHECKING:
    from kraise.raising.hosts.function import Raising


class Joined:
    """The kernels of a module whose parameters are joined; ``raise_function`` raises one."""

    def __init__(self, module: k.Module, raise_function: Callable[..., eq.Kernel], options: Any):
        self.module, self.raise_function, self.options = module, raise_function, options
        self.functions: dict[tuple, k.Function | None] = {}
        self.kernels: list[eq.Kernel] = []
        self.taken = {f.name for f in module.functions} | {h.name for h in module.hosts}

    def find(self, name: str, groups: tuple[tuple[str, ...], ...]) -> tuple[str, Function] | None:
        """The kernel ``name`` with each group of parameters as its first one; None where it is not raised."""
        if (name, groups) not in self.functions:
            self.functions[name, groups] = self._made(name, groups)
        found = self.functions[name, groups]
        if found is None:
            return None
        return found.name, effects(next(x for x in self.kernels if x.name == found.name), found)

    def _made(self, name: str, groups: tuple[tuple[str, ...], ...]) -> k.Function | None:
        function: Any = self.module.function(name)
        own, number = f"{name}_in_place", 2
        while own in self.taken:
            own, number = f"{name}_in_place_{number}", number + 1
        made = joined(function, groups, own)
        if made is None:
            return None
        others = tuple(f for f in self.module.functions if f.name != name)
        module = replace(self.module, functions=(*others, made))
        raised, _ = guard(own, function.span, self.raise_function, module, made, self.options)
        if raised is None:
            return None
        self.taken.add(own)
        self.kernels.append(raised)
        return made


def in_one_place(r: Raising, function: Function, given: tuple[Any, ...], state: State) -> tuple[tuple[str, ...], ...]:
    """The parameters that are given one place of memory, where the kernel writes to it."""
    places: list[tuple[View, list[str]]] = []
    for param, value in zip(function.params, given, strict=False):
        if not isinstance(value, k.ArrayRef) or value.array not in state.points or value.rows:
            continue
        at = replace(state.points[value.array], offset=r.array(value, state).offset)
        found = next((names for other, names in places if at == other or _same(r, at, other)), None)
        if found is None:
            places.append((at, [param.name]))
        else:
            found.append(param.name)
    return tuple(tuple(g) for _, g in places if len(g) > 1 and set(g) & set(function.written))


def _same(r: Raising, a: View, b: View) -> bool:
    """Do two views of one memory begin at numbers that are equal?"""
    alike = a.offset is not None and b.offset is not None and replace(a, offset=b.offset) == b
    return alike and r.number(a.offset) == r.number(b.offset)
