"""Accesses under other names than those of the source's own: by other indices (``u[elem[e, b]]`` where each element's
``a`` loads ``u[elem[e, a]]``), and by two indices as accesses by the number whose digits they are
(:mod:`kraise.raising.threads.tiles`): ``v[y * pitch + x]`` by all x below the pitch is ``v[i]`` by all i."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kraise.analysis.poly import to_poly
from kraise.ir import equations as eq
from kraise.ir.types import INT
from kraise.ir.walk import free_indices, substitute, topological
from kraise.raising.threads.tiles import Domain, Launch, merged

Path = frozenset[eq.Expr]
Subscripts = tuple[eq.Expr, ...]
Names = tuple[str, ...]


class ByNumber:
    """The merged accesses of a kernel, made when they are asked for."""

    def __init__(self, executed: Mapping[tuple[str, Subscripts], list[Path]]):
        self.executed = executed
        self.made: dict[str, list[tuple[str, eq.Expr, Path]]] = {}
        self.alike: dict[tuple[str, Subscripts], list[tuple[Names, Path]]] | None = None

    def paths(self, array: str, subs: Subscripts) -> Iterator[Path]:
        """The paths of the accesses that are the access at ``subs``: as other indices, or one index, go them."""
        yield from self._renamed(array, subs)
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

    def _renamed(self, array: str, subs: Subscripts) -> Iterator[Path]:
        if not any(isinstance(n, eq.Read) for n in topological(subs)):
            return  # what is no data is proved by its range
        if self.alike is None:
            self.alike = {}
            for (name, own), paths in self.executed.items():
                shape, order = _nameless(own)
                self.alike.setdefault((name, shape), []).extend((order, p) for p in paths)
        shape, order = _nameless(subs)
        for names, path in self.alike.get((array, shape), ()):
            renamed: dict[eq.Expr, eq.Expr] = {
                eq.Index(old, INT): eq.Index(new, INT) for old, new in zip(names, order, strict=True) if old != new
            }
            others = frozenset().union(*map(free_indices, path)) - {*names}
            if renamed and not others & {*order}:
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


def _nameless(subs: Subscripts) -> tuple[Subscripts, Names]:
    """Subscripts with numbers for their indices, in the order in which these are met, and the names of these."""
    names = dict.fromkeys(n.name for n in topological(subs) if isinstance(n, eq.Index))
    numbers: dict[eq.Expr, eq.Expr] = {eq.Index(n, INT): eq.Index(f"${at}", INT) for at, n in enumerate(names)}
    return tuple(substitute(s, numbers) for s in subs), tuple(names)


__all__ = ["ByNumber"]
