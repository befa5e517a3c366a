"""Which Host IR is legal: a list of what is wrong with a host function, for tests after every front end."""

from __future__ import annotations

from kraise.ir import host as h
from kraise.ir import kernel as k


def problems(host: h.Host, functions: frozenset[str] | set[str] = frozenset()) -> list[str]:
    """What is wrong with the function; an empty list if it is legal. ``functions``: what it may launch, if given."""
    found: list[str] = []
    names = [p.name for p in host.params]
    found += [f"{host.name}: parameter {n} twice" for n in sorted({n for n in names if names.count(n) > 1})]
    _block(host.body, host.name, 0, functions, found)
    return found


def _block(
    body: tuple[h.Stmt, ...], name: str, loops: int, functions: frozenset[str] | set[str], found: list[str]
) -> None:
    for at, stmt in enumerate(body):
        match stmt:
            case h.Return() if at + 1 < len(body):
                found.append(f"{name}: statements after a return")
            case h.Break() if not loops:
                found.append(f"{name}: a break outside a loop")
            case h.Point(names=names, sources=sources) if len(names) != len(sources):
                found.append(f"{name}: {len(names)} names point to {len(sources)} places")
            case h.Point(sources=sources) if any(isinstance(s, h.Chosen) and len(s.names) < 2 for s in sources):
                found.append(f"{name}: a choice among fewer than two arrays")
            case h.Launch(results=results, types=types) if len(results) != len(types):
                found.append(f"{name}: {len(results)} results of {len(types)} types")
            case h.Launch(grid=grid, block=block) if (grid is None) != (block is None):
                found.append(f"{name}: a launch with a grid and no block, or the reverse")
            case h.Launch(function=function) if functions and function not in functions:
                found.append(f"{name}: launches {function}, which there is not")
            case h.CallHost(results=results, arrays=arrays) if len(results) != len(arrays):
                found.append(f"{name}: {len(results)} results, {len(arrays)} kinds")
            case h.Alloc(shape=None, like=""):
                found.append(f"{name}: {stmt.name} has no shape")
            case h.For(step=k.Const(value=0)):
                found.append(f"{name}: a loop of step 0")
        inner = loops + isinstance(stmt, h.For | h.While)
        for part in h.children(stmt):
            _block(part, name, inner, functions, found)
