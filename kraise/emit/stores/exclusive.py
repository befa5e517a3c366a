"""Stores to the same cells of which each cell takes one at most: those of the same value are one.

``x[i] = min(x[i], t) where a; …; x[i] = min(x[i], t) where b`` is one store where ``a or b``, and ``x[i] = t where c
and t > x[i]`` is one of ``max(x[i], t) where c``: the thread of the lower element of a pair says it in one way, that of
the upper one in the other. (Measured on a step of a bitonic network: 0.75 of the time.) The side condition: any two of
the masks exclude each other by comparisons of integers, so that every store sees the array as it was before the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kraise.emit import tree
from kraise.emit.loads.masks import conjuncts
from kraise.emit.stores.merge import users
from kraise.ir import equations as eq
from kraise.ir.operations import TURNED
from kraise.ir.types import BOOL

_MOST = 8  # stores of a run
_TURNED = {**TURNED, "eq": "eq", "ne": "ne"}
_APART = {("gt", "lt"), ("lt", "gt"), ("gt", "le"), ("le", "gt"), ("ge", "lt"), ("lt", "ge")}
_APART |= {("eq", "ne"), ("ne", "eq"), ("eq", "gt"), ("gt", "eq"), ("eq", "lt"), ("lt", "eq")}


def gathered(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with such stores as one for each value."""
    body, at = kernel.body, 0
    out: list[eq.Stmt] = []
    while at < len(body):
        run = _run(body[at : at + _MOST])
        fewer = _fewer(kernel, run) if len(run) > 1 else None
        out += [body[at]] if fewer is None else fewer
        at += 1 if fewer is None else len(run)
    return kernel if len(out) == len(body) else replace(kernel, body=tuple(out))


def _run(body: Sequence[eq.Stmt]) -> list[eq.Write]:
    """The first statements, as far as they are stores to the same cells under masks, one after the other."""
    run: list[eq.Write] = []
    for s in body:
        if not isinstance(s, eq.Write) or s.where is None or s.accumulate or s.safe or s.segments:
            break
        first = run[0] if run else s
        alike = (s.axes, s.subscripts, s.view) == (first.axes, first.subscripts, first.view)
        if run and not (alike and s.before is run[-1].after):
            break
        run.append(s)
    return run


def _fewer(kernel: eq.Kernel, run: list[eq.Write]) -> list[eq.Write] | None:
    first, last = run[0], run[-1]
    between = {s.after for s in run[:-1]}
    uses, own = users(kernel), users(replace(kernel, body=tuple(run), returns=()))
    if any(uses[v] != own[v] for v in between):
        return None
    told = [_told(s, first.before, between) for s in run]
    if any(t is None for t in told):
        return None
    values: dict[eq.Expr, list[list[eq.Expr]]] = {}
    masks = [t[1] for t in told if t is not None]
    # what the array itself holds is another thing after the first store
    fixed = [[m for m in mask if not _holds(m, first.before.array)] for mask in masks]
    if not all(_apart(a, b) for k, a in enumerate(fixed) for b in fixed[:k]):
        return None
    for value, mask in (t for t in told if t is not None):
        values.setdefault(value, []).append(mask)
    if len(values) == len(run):
        return None
    out: list[eq.Write] = []
    for k, (value, some) in enumerate(values.items()):
        where = _joined("or", [_joined("and", m) for m in some])
        span = next(s.span for s, t in zip(run, told, strict=True) if t is not None and t[0] is value)
        before = out[-1].after if out else first.before
        after = last.after if k == len(values) - 1 else run[k].after
        out.append(replace(first, before=before, after=after, value=value, where=where, span=span))
    return out


def _told(s: eq.Write, start: eq.Version, between: set[eq.Version]) -> tuple[eq.Expr, list[eq.Expr]] | None:
    """What a store of a run has for its cells, and the parts of its mask, as of the array before the run."""
    assert s.where is not None
    parts = [s.value, *conjuncts(s.where)]
    old: dict[eq.Expr, eq.Expr] = {}
    for n in tree.walk(*parts):
        if isinstance(n, eq.Read) and n.version in between:
            if n.subscripts != s.subscripts or n.view != s.view:
                return None
            old[n] = replace(n, version=start)
    memo: dict[eq.Expr, eq.Expr] = {}
    value, *mask = (tree.substitute(p, old, memo) for p in parts)
    cell = eq.Read(start, s.subscripts, value.type, s.view)
    for m in mask:
        for name, args in _ways(m):
            if args == (value, cell) and name in ("gt", "lt") and value.type.kind not in ("bool", "complex"):
                value = eq.Op("max" if name == "gt" else "min", (cell, value), value.type)
                return value, [x for x in mask if x is not m]
    return value, mask


def _holds(node: eq.Expr, array: str) -> bool:
    return any(isinstance(n, eq.Read) and n.version.array == array for n in tree.walk(node))


def _ways(node: eq.Expr) -> list[tuple[str, tuple[eq.Expr, ...]]]:
    """A comparison as it stands, and turned round."""
    match node:
        case eq.Op(name=name, args=(a, b)) if name in _TURNED:
            return [(name, (a, b)), (_TURNED[name], (b, a))]
    return []


def _apart(some: list[eq.Expr], others: list[eq.Expr]) -> bool:
    """Whether two masks never hold together."""
    told = [way for b in others for way in _ways(b)]
    return any(
        (name, other) in _APART and args == same
        for a in some
        for name, args in _ways(a)
        if all(x.type.is_integer for x in args)
        for other, same in told
    )


def _joined(op: str, parts: list[eq.Expr]) -> eq.Expr:
    out = parts[0]
    for p in parts[1:]:
        out = eq.Op(op, (out, p), BOOL)
    return out


__all__ = ["gathered"]
