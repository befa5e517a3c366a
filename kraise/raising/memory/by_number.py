"""Accesses by two indices as accesses by the number whose digits they are (:mod:`kraise.raising.threads.tiles`):
``v[y * pitch + x]`` by all x below the pitch is ``v[i]`` by all i."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute
from kraise.raising.threads.tiles import Domain, Launch, merged

Path = frozenset[eq.Expr]
Subscripts = tuple[eq.Expr, ...]


class ByNumber:
    """The merged accesses of a kernel, made when they are asked for."""

    def __init__(self, executed: Mapping[tuple[str, Subscripts], list[Path]]):
        self.executed = executed
        self.made: dict[str, list[tuple[str, eq.Expr, Path]]] = {}

    def paths(self, array: str, subs: Subscripts) -> Iterator[Path]:
        """The paths of the accesses that are, as one index goes them, the access at ``subs``."""
        names = free_indices(subs[0]) if len(subs) == 1 else frozenset()
        if len(names) != 1:
            return
        (own,) = names
        if array not in self.made:
            self.made[array] = list(self._merged(array))
        for name, place, path in self.made[array]:
            renamed: dict[eq.Expr, eq.Expr] = {eq.Index(name, INT): eq.Index(own, INT)}
            if to_poly(substitute(place, renamed)) == to_poly(subs[0]):
                yield frozenset(substitute(c, renamed) for c in path)

    def _merged(self, array: str) -> Iterator[tuple[str, eq.Expr, Path]]:
        for (name, subs), paths in self.executed.items():
            if name != array or len(subs) != 1 or len(free_indices(subs[0])) != 2:
                continue
            for path in paths:
                indices = tuple(sorted(free_indices(subs[0])))
                if any(free_indices(c) - set(indices) for c in path):
                    continue  # another index has a say
                found = merged(Domain(indices, tuple(sorted(path, key=repr)), subs), Launch())
                if len(found.names) == 1:
                    yield found.names[0], found.values[0], frozenset(found.path)


__all__ = ["ByNumber"]
