"""Loads of a tile that only the store's own guard makes one: ``s[t + o]`` by threads that will store.

What a cell holds is asked where it is loaded (:mod:`kraise.raising.memory.filled_twice`). There a thread beyond the
array may still run (``if (i < n) y[i] = sum``): its halo was loaded under another guard than its neighbours' cells.
Where the store's guard holds the two guards are one.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.analysis.conditions import classify, conjuncts
from kraise.ir import equations as eq
from kraise.ir.walk import axes_of, children, free_indices, rebuild, topological
from kraise.raising.memory.filled_twice import joined
from kraise.raising.memory.spread import guarded
from kraise.raising.run.state import RawWrite
from kraise.raising.writes.masks import bounds

Path = tuple[eq.Expr, ...]


def rejoined(r: RawWrite) -> RawWrite:
    """The write with choices between guarded loads of one array as one load, where its path says that they are."""
    if not any(_halo(n) for n in topological((r.value,))):
        return r
    return replace(r, value=_expression(r.value, r.path, {}))


def _halo(e: eq.Expr) -> bool:
    """Whether ``e`` is a choice by indices between loads of one array, each under a guard or none."""
    match e:
        case eq.Op(name="select", args=(c, a, b)) if all(classify(p) is not None for p in conjuncts(c)):
            versions = {_version(guarded(arm)[1]) for arm in (a, b)}
            return len(versions) == 1 and None not in versions
    return False


def _version(e: eq.Expr) -> eq.Version | None:
    return e.version if isinstance(e, eq.Read) else None


def _expression(e: eq.Expr, path: Path, done: dict[tuple[eq.Expr, Path], eq.Expr]) -> eq.Expr:
    key = (e, path)
    if key in done:
        return done[key]
    axes = axes_of(e)
    inner = path
    if isinstance(e, eq.Reduce | eq.ArgReduce | eq.Scan):
        names = {a.name for a in axes}
        inner = (*(c for c in path if not free_indices(c) & names), *bounds(axes))
    outer = 2 * len(axes)  # the axes' own bounds come first
    parts = tuple(_expression(c, path if i < outer else inner, done) for i, c in enumerate(children(e)))
    node = rebuild(e, parts)
    if isinstance(node, eq.Op) and _halo(node):
        c, a, b = node.args
        node = joined(path, list(conjuncts(c)), a, b)
    done[key] = node
    return node
