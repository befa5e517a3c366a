"""Shared arrays that hold the bits of another type only: ``int *at = (int *)&smem[blockDim.x]`` of an array of floats.

Where every store is of bits of one type, or of another cell of the array, and every load is read as that type, or
stored to another cell, the array is one of that type, and no bits are turned (Kernel IR to Kernel IR).
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked
from kraise.ir.types import ScalarType


def retyped(body: tuple[k.Stmt, ...], names: frozenset[str]) -> tuple[k.Stmt, ...]:
    """``body`` with such arrays among the shared arrays ``names`` as arrays of the type that they hold."""
    for name in sorted(names):
        held = _held(body, name)
        if held is not None:
            body = _as(body, name, held)
    return body


def _held(body: tuple[k.Stmt, ...], name: str) -> ScalarType | None:
    """The type whose bits the array holds; None if it is used as what it is, or in several ways."""
    types: set[ScalarType] = set()
    loads = uses = 0
    for n in walked(body):
        match n:
            case k.Load(array=a) if a == name:
                loads += 1
            case k.Store(array=a, value=v) if a == name:
                if isinstance(v, k.Load) and v.array == name:
                    uses += 1
                elif isinstance(v, k.Op) and v.name == "bits":
                    types.add(v.args[0].type)
                else:
                    return None
            case k.Op(name="bits", args=(k.Load(array=a),), type=t) if a == name:
                uses += 1
                types.add(t)
            case k.Atomic(array=a) | k.ArrayRef(array=a) if a == name:
                return None
    return types.pop() if len(types) == 1 and loads == uses else None


def _as(body: tuple[k.Stmt, ...], name: str, held: ScalarType) -> tuple[k.Stmt, ...]:
    def load(n: k.Load) -> k.Load:
        return replace(n, subscripts=tuple(rewritten(s, visit) for s in n.subscripts), type=held)

    def visit(n: object) -> object | None:
        match n:
            case k.LocalArray(name=a) if a == name:
                return replace(n, element=held)
            case k.Op(name="bits", args=(k.Load(array=a) as inner,)) if a == name:
                return load(inner)
            case k.Store(array=a, value=v) if a == name:
                if isinstance(v, k.Op):
                    new = rewritten(v.args[0], visit)
                else:
                    assert isinstance(v, k.Load)
                    new = load(v)
                return replace(n, subscripts=tuple(rewritten(s, visit) for s in n.subscripts), value=new)
        return None

    return rewritten(body, visit)


__all__ = ["retyped"]
