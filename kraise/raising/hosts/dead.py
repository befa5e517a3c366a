"""What no result needs leaves a raised host function: everything in it is a value, so nothing else is lost."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace

from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType


def variables(*nodes: object) -> set[str]:
    """The variables that values and expressions mention."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        node = stack.pop()
        match node:
            case tuple() | list():
                stack.extend(node)
                continue
            case ScalarType():
                continue
            case k.Var(name=name):
                found.add(name)
            case k.Load(array=name) | k.Shape(array=name) | h.Whole(array=name):
                found.add(name)
            case o.New(like=name) if name:
                found.add(name)
            case o.Put(base=name):
                found.add(name)
            case o.Rotated(variables=names):
                found |= set(names)
        if is_dataclass(node) and not isinstance(node, type):
            stack.extend(getattr(node, f.name) for f in fields(node) if f.name not in ("span", "type", "element"))
    return found


def without_dead(host: o.Host) -> o.Host:
    """The function without what its results do not need."""
    body, _ = _block(host.body, variables(host.returns))
    return replace(host, body=body)


def _block(body: tuple[o.Stmt, ...], live: set[str]) -> tuple[tuple[o.Stmt, ...], set[str]]:
    """The statements that ``live`` needs, and what they need before them."""
    out: list[o.Stmt] = []
    for stmt in reversed(body):
        match stmt:
            case o.Let(targets=targets, value=value):
                if not live & set(targets):
                    continue
                named = tuple(t if t in live else "_" for t in targets)
                live = live - set(targets) | variables(value)
                out.append(replace(stmt, targets=named))
            case o.Loop():
                loop, live = _loop(stmt, live)
                out += [loop] if loop is not None else []
            case o.Branch():
                branch, live = _branch(stmt, live)
                out += [branch] if branch is not None else []
    return tuple(reversed(out)), live


def _loop(stmt: o.Loop, live: set[str]) -> tuple[o.Loop | None, set[str]]:
    bounds = variables(stmt.start, stmt.stop, stmt.step)
    tested = variables(stmt.condition)
    wanted = {n for n in stmt.names if n in live}
    if not wanted:
        return None, live
    wanted |= {n for n in stmt.names if n in tested}
    while True:
        nexts = {b for a, b in zip(stmt.names, stmt.nexts, strict=True) if a in wanted}
        body, needed = _block(stmt.body, set(nexts))
        more = {n for n in stmt.names if n in needed or (n in nexts and n in stmt.names)} | wanted
        if more == wanted:
            break
        wanted = more
    keep = [i for i, n in enumerate(stmt.names) if n in wanted]
    shorter = replace(
        stmt,
        names=tuple(stmt.names[i] for i in keep),
        initial=tuple(stmt.initial[i] for i in keep),
        nexts=tuple(stmt.nexts[i] for i in keep),
        arrays=tuple(stmt.arrays[i] for i in keep),
        body=body,
        unused=frozenset(stmt.names[i] for i in keep) - live,
    )
    outer = (needed | tested) - set(shorter.names) - {stmt.var}
    return shorter, (live - set(shorter.names)) | outer | bounds | variables(shorter.initial)


def _branch(stmt: o.Branch, live: set[str]) -> tuple[o.Branch | None, set[str]]:
    keep = [i for i, n in enumerate(stmt.names) if n in live]
    if not keep:
        return None, live
    values, others = (tuple(x[i] for i in keep) for x in (stmt.values, stmt.others))
    first, before = _block(stmt.body, variables(values))
    second, other = _block(stmt.orelse, variables(others))
    names = tuple(stmt.names[i] for i in keep)
    shorter = replace(
        stmt, names=names, values=values, others=others, body=first, orelse=second,
        arrays=tuple(stmt.arrays[i] for i in keep),
    )  # fmt: skip
    return shorter, (live - set(names)) | before | other | variables(stmt.condition)
