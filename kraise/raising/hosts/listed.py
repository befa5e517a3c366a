"""New arrays that are filled element by element are lists: ``float w[3] = {a, b, c}`` is ``jnp.array([a, b, c])``."""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.raising.hosts.dead import variables

MOST = 64  # elements


def with_lists(host: o.Host) -> o.Host:
    """The function with such arrays as lists."""
    return replace(host, body=_block(host.body))


def _block(body: tuple[o.Stmt, ...]) -> tuple[o.Stmt, ...]:
    out: list[o.Stmt] = []
    at = 0
    while at < len(body):
        stmt = body[at]
        at += 1
        if isinstance(stmt, o.Loop):
            stmt = replace(stmt, body=_block(stmt.body))
        elif isinstance(stmt, o.Branch):
            stmt = replace(stmt, body=_block(stmt.body), orelse=_block(stmt.orelse))
        elif isinstance(stmt, o.Let) and (length := _length(stmt)):
            stores: list[h.Expr] = []
            while at < len(body) and len(stores) < length and (put := _next(body[at], stmt.targets[0], len(stores))):
                stores.append(put.value)
                at += 1
            if len(stores) == length and isinstance(stmt.value, o.New):
                zero = all(isinstance(v, k.Const) and v.value == 0 for v in stores) and _is_empty(stmt.value)
                stmt = stmt if zero else replace(stmt, value=replace(stmt.value, values=tuple(stores)))
            else:
                at -= len(stores)
        out.append(stmt)
    return tuple(out)


def _is_empty(new: o.New) -> bool:
    return new.fill is None or (isinstance(new.fill, k.Const) and new.fill.value == 0)


def _length(stmt: o.Let) -> int:
    """How many elements a new array has; 0 where it is none, or that is not known or many."""
    new = stmt.value
    if not isinstance(new, o.New) or new.shape is None or len(new.shape) != 1 or len(stmt.targets) != 1:
        return 0
    extent = new.shape[0]
    known = isinstance(extent, k.Const) and isinstance(extent.value, int) and 0 < extent.value <= MOST
    return int(extent.value.real) if known and isinstance(extent, k.Const) else 0


def _next(stmt: o.Stmt, name: str, place: int) -> o.Put | None:
    """The store of the element at ``place``."""
    put = stmt.value if isinstance(stmt, o.Let) and stmt.targets == (name,) else None
    if not isinstance(put, o.Put) or put.base != name or not put.subscripts or len(put.subscripts) != 1:
        return None
    at = put.subscripts[0]
    same = isinstance(at, k.Const) and at.value == place
    return put if same and name not in variables(put.value) else None
