"""What lowering leaves behind: values that nothing reads, results of atomics that nothing takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from kraise.ir.kernel import Assign, Atomic, CallStmt, Const, For, Hw, If, Stmt, Var, Warp


def tidy(stmts: Sequence[Any], made: set[str]) -> list[Stmt]:
    """The statements without assignments that are never read, and without copies that have no name of the user's.

    ``made``: names (or, ending in an underscore, their beginnings) that lowering has made up.
    """
    current = _without_copies(list(stmts), made)
    while True:
        read = set(_read(current))
        smaller = _without(current, read)
        if smaller == current:
            return current
        current = smaller


def _without_copies(stmts: list[Any], made: set[str]) -> list[Any]:
    """Made-up names that only rename a variable or a constant are replaced by it."""
    prefixes = tuple(n for n in made if n.endswith("_"))
    counts: Counter[str] = Counter()
    copies: dict[str, Any] = {}
    _count(stmts, counts, copies)
    chosen: dict[str, Any] = {}
    for name, value in copies.items():
        mine = name in made or name.startswith(prefixes)
        if mine and counts[name] == 1 and (not isinstance(value, Var) or counts[value.name] <= 1):
            chosen[name] = value
    if not chosen:
        return stmts
    for name in chosen:  # a copy of a copy
        seen = {name}
        while isinstance(chosen[name], Var) and chosen[name].name in chosen and chosen[name].name not in seen:
            seen.add(chosen[name].name)
            chosen[name] = chosen[chosen[name].name]
    return [_replaced(s, chosen) for s in stmts if not (isinstance(s, Assign) and s.name in chosen)]


def _count(stmts: Sequence[Any], counts: Counter[str], copies: dict[str, Any]) -> None:
    for s in stmts:
        match s:
            case Assign(name, value, t):
                counts[name] += 1
                if isinstance(value, Var | Const) and value.type == t:
                    copies[name] = value
            case Atomic():
                counts[s.result] += 1
            case CallStmt():
                counts.update(s.results)
                counts.update(a.name for a in s.args if isinstance(a, Var))
            case For():
                counts[s.var] += 2
        for inner in (getattr(s, "body", ()), getattr(s, "orelse", ())):
            _count(inner, counts, copies)


def _replaced(x: Any, chosen: dict[str, Any]) -> Any:
    """A node with variables replaced; the copies themselves go."""
    if isinstance(x, Var):
        value = chosen.get(x.name)
        return x if value is None else replace(value, span=x.span)
    changes: dict[str, Any] = {}
    for name in getattr(x, "__dataclass_fields__", ()):
        if name in ("span", "type", "types", "element"):
            continue
        value = getattr(x, name)
        if isinstance(value, tuple) and value and not isinstance(value[0], str | int | float):
            new: Any = tuple(_replaced(v, chosen) for v in value if not (isinstance(v, Assign) and v.name in chosen))
        elif hasattr(value, "__dataclass_fields__"):
            new = _replaced(value, chosen)
        else:
            continue
        if new != value:
            changes[name] = new
    return replace(x, **changes) if changes else x


def _without(stmts: Sequence[Any], read: set[str]) -> list[Any]:
    out: list[Any] = []
    for s in stmts:
        if isinstance(s, Assign) and s.name not in read and not isinstance(s.value, Warp) and not _indices(s.value):
            continue
        if isinstance(s, Atomic) and s.result and s.result not in read:
            s = replace(s, result="")
        inner = {name: tuple(_without(getattr(s, name), read)) for name in ("body", "orelse") if getattr(s, name, ())}
        if inner and any(v != getattr(s, k) for k, v in inner.items()):
            s = replace(s, **inner)
        if isinstance(s, If) and not s.body and not s.orelse:
            continue
        if isinstance(s, If) and not s.body and s.orelse:
            from kraise.frontends.cuda_c.exits import _not

            s = replace(s, condition=_not(s.condition), body=s.orelse, orelse=())
        out.append(s)
    return out


def _indices(x: Any) -> bool:
    """Whether there is a hardware index in an expression: which axes a launch has may matter where no value does."""
    if isinstance(x, tuple):
        return any(map(_indices, x))
    fields = getattr(x, "__dataclass_fields__", ())
    return isinstance(x, Hw) or any(_indices(getattr(x, f)) for f in fields if f not in ("span", "type"))


def _read(x: Any) -> Iterator[str]:
    """Names of variables that are read (a call's by-reference arguments among them)."""
    if isinstance(x, list | tuple):
        for item in x:
            yield from _read(item)
        return
    if isinstance(x, Var):
        yield x.name
        return
    for name in getattr(x, "__dataclass_fields__", ()):
        if name in ("span", "type", "types", "element"):
            continue
        value = getattr(x, name)
        if isinstance(value, tuple) or hasattr(value, "__dataclass_fields__"):
            yield from _read(value)
