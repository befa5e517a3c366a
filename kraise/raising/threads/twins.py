"""Launches with more threads along an axis than a kernel tells apart.

``w[j] += 1`` with ``j = threadIdx.x`` by two blocks is a race: the threads of the second do what those of the first do,
and load what these have stored, or have not. A thread that stores only what it can say without loading what it stores
to may have any number of twins: all of them store the same. So may one whose twins are in its block (along an axis of
``threadIdx``) and have met at a barrier between the load and the store.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraise.ir import kernel as k
from kraise.ir.rewrite import walked

Axis = tuple[str, int]  # "grid" or "block", and an axis of it


def without_twins(module: k.Module, function: k.Function, called: tuple[str, ...]) -> tuple[Axis, ...]:
    """The axes along which a launch must have one block (or a block one thread), as the kernel does not name them and
    changes in place what twins share: the caller's arrays and, of twins in one block, shared arrays."""
    if function.kind != "kernel":
        return ()
    functions = {f.name: f for f in module.functions}
    bodies = (function.body, *(functions[c].body for c in called if c in functions))
    named = {("grid" if n.kind == "block" else "block", n.axis) for n in walked(bodies) if isinstance(n, k.Hw)
             and n.kind in ("thread", "block")}  # fmt: skip
    named |= {("block", axis) for axis in range(function.one_row)} | {*function.one_line}
    out: list[Axis] = []
    for head in ("grid", "block"):
        open_ = [(head, axis) for axis in range(3) if (head, axis) not in named]
        if open_ and _Order(functions, head == "block").changes(function.body):
            out += open_
    return tuple(out)


class _Order:
    """The loads and the stores of a thread, in order."""

    def __init__(self, functions: Mapping[str, k.Function], in_block: bool):
        self.functions, self.in_block = functions, in_block
        self.own: set[str] = set()
        self.found = False
        self.left: list[frozenset[str]] = []  # what is loaded where a loop is left
        self.calls: list[str] = []

    def changes(self, body: tuple[k.Stmt, ...]) -> bool:
        """Whether an array that twins share is loaded, and stored to before all of them have met."""
        self._block(body, frozenset(), {})
        return self.found

    def _block(self, body: tuple[k.Stmt, ...], loaded: frozenset[str], names: Mapping[str, str]) -> frozenset[str]:
        """What has been loaded since the last barrier, after the statements."""
        for s in body:
            loaded = self._statement(s, loaded, names)
        return loaded

    def _statement(self, s: k.Stmt, loaded: frozenset[str], names: Mapping[str, str]) -> frozenset[str]:
        match s:
            case k.LocalArray(name=name, space=space) if not (self.in_block and space == "shared"):
                self.own.add(_place(name, names))
            case k.Store(array=array):
                loaded = self._loads((s.subscripts, s.value), loaded, names)
                self._store(_place(array, names), loaded)
            case k.Atomic(array=array, result=result):
                place = _place(array, names)
                loaded = self._loads((s.subscripts, s.values), loaded, names)
                self._store(place, loaded)
                loaded |= {place} if result else frozenset()
            case k.If():
                loaded = self._loads(s.condition, loaded, names)
                loaded = self._block(s.body, loaded, names) | self._block(s.orelse, loaded, names)
            case k.For():
                loaded = self._loads((s.start, s.stop, s.step), loaded, names)
                loaded = self._rounds(s, loaded, names)
            case k.While():
                loaded = self._rounds(s, loaded, names)
            case k.Break() | k.Continue():
                self.left.append(loaded)
            case k.Barrier(scope=scope) if scope == "grid" or (scope == "block" and self.in_block):
                loaded = frozenset()
            case k.Assign() | k.Return() | k.CallStmt():
                loaded = self._loads(s, loaded, names)
        return loaded

    def _rounds(self, s: k.For | k.While, before: frozenset[str], names: Mapping[str, str]) -> frozenset[str]:
        """A loop: what one round has loaded is loaded when the next one stores."""
        loaded, outer, self.left = before, self.left, []
        for _ in range(2):
            test = s.condition if isinstance(s, k.While) else ()
            loaded = self._block(s.body, self._loads(test, loaded, names), names)
            loaded = self._loads(test, loaded.union(*self.left), names)
        self.left = outer
        return self._block(s.orelse, loaded | before, names) | loaded | before

    def _store(self, place: str, loaded: frozenset[str]) -> None:
        self.found |= place in loaded and place not in self.own

    def _loads(self, x: object, loaded: frozenset[str], names: Mapping[str, str]) -> frozenset[str]:
        """With what is loaded in expressions, and by the functions that they call."""
        found = set(loaded)
        for n in walked(x):
            if isinstance(n, k.Load):
                found.add(_place(n.array, names))
            elif isinstance(n, k.Call | k.CallStmt) and (called := self.functions.get(n.function)) is not None:
                if n.function in self.calls:
                    continue  # refused elsewhere
                inner = {p.name: _place(a.array, names) for p, a in zip(called.params, n.args, strict=False)
                         if isinstance(a, k.ArrayRef)}  # fmt: skip
                for a in walked(called.body):
                    if isinstance(a, k.LocalArray):
                        inner[a.name] = f"{n.function}:{a.name}"
                self.calls.append(n.function)
                found |= self._block(called.body, frozenset(found), inner)
                self.calls.pop()
        return frozenset(found)


def _place(array: str, names: Mapping[str, str]) -> str:
    """The array of the kernel that one of a function is."""
    head, dot, rest = array.partition(".")
    return names.get(head, head) + dot + rest


__all__ = ["Axis", "without_twins"]
