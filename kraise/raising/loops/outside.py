"""What the free rounds of a loop find in the arrays that the loop stores to: what these held before it."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from kraise.ir import equations as eq
from kraise.ir.walk import transform
from kraise.raising.memory.private import check_known, held_before
from kraise.raising.run.context import Context
from kraise.raising.run.state import Raw, RawFold, RawWrite, State, map_access, map_raw


def from_outside(
    cx: Context, st: State, inner: State, writes_from: int, accesses_from: int, versions: dict[eq.Version, eq.Version]
) -> None:
    """The rounds are free: what a round finds in an array is what the array held before the loop. In an array that the
    kernel makes that is, where the stores before the loop say it, a value."""
    memo: dict[eq.Expr, eq.Expr] = {}
    values = held_before(cx, st, inner.accesses[accesses_from:], versions)

    def one(node: eq.Expr) -> eq.Expr:
        if isinstance(node, eq.Read) and node.version in versions:
            if node in values:
                return values[node]
            check_known(cx, node.version.array, versions[node.version], None)
            return eq.Read(versions[node.version], node.subscripts, node.type, node.view, node.safe)
        return node

    def fn(e: eq.Expr) -> eq.Expr:
        return transform(e, one, memo)

    def based(raw: Raw) -> Raw:
        raw = map_raw(raw, fn)
        if isinstance(raw, RawWrite):
            before = versions.get(raw.before, raw.before)
            if before in cx.clobbered:
                cx.clobbered.add(raw.after)
            return replace(raw, before=before)
        if isinstance(raw, RawFold):
            arrays = tuple(replace(c, outside=versions.get(c.outside, c.outside)) for c in raw.fold.arrays)
            cx.clobbered |= {c.result for c in arrays if c.outside in cx.clobbered}
            return replace(raw, fold=replace(raw.fold, arrays=arrays))
        return raw

    inner.out[writes_from:] = [based(r) for r in inner.out[writes_from:]]
    inner.accesses[accesses_from:] = [
        replace(map_access(a, fn), node=None, answered=True)
        if a.node in values
        else replace(map_access(a, fn), node=a.node and cast("eq.Read", fn(a.node)))
        for a in inner.accesses[accesses_from:]
    ]
    inner.names = {fn(e): replace(n, expr=fn(e)) for e, n in inner.names.items()}
    inner.env = {n: fn(v) for n, v in inner.env.items()}
    inner.versions = {a: versions.get(v, v) for a, v in inner.versions.items()}


__all__ = ["from_outside"]
