"""Guards that let threads beside an array pass: ``if x >= C.shape[0] and y >= C.shape[1]: return`` (Kernel IR to Kernel
IR).

Whoever passes the guard stores to ``C[x, y]``, so that on every launch without an access out of bounds both hold: what
was meant is ``or``, and that is what the raised form needs to see.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked

_TURNED = {"and": "or", "or": "and"}


def with_whole_guards(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with such guards as they were meant; the same if there are none."""
    names = [s.name for s in walked(body) if isinstance(s, k.Assign)]
    once = {n for n in names if names.count(n) == 1}

    def visit(node: object) -> object | None:
        if isinstance(node, k.If) and _meant(node.condition, "or", "lt", node.body, once) and not node.orelse:
            return replace(node, condition=_turned(node.condition), body=rewritten(node.body, visit))
        return None

    out = list(rewritten(body, visit))
    for at, s in enumerate(out):
        match s:
            case k.If(body=(k.Return(values=()),), orelse=()) if _meant(s.condition, "and", "ge", out[at + 1 :], once):
                out[at] = replace(s, condition=_turned(s.condition))
    return tuple(out) if any(a is not b for a, b in zip(out, body, strict=True)) else body


def _turned(c: k.Expr) -> k.Expr:
    assert isinstance(c, k.Op)
    return replace(c, name=_TURNED[c.name])


def _meant(c: k.Expr, joint: str, compared: str, after: object, once: set[str]) -> bool:
    """Whether ``c`` compares subscripts of what is stored to in ``after``, under no condition, with the extents."""
    if not isinstance(c, k.Op) or c.name != joint:
        return False
    sides: list[tuple[k.Expr, str, int]] = []
    for part in c.args:
        match part:
            case k.Op(name=name, args=(k.Var() as v, k.Shape(array=array, axis=axis))) if name == compared:
                sides.append((v, array, axis))
            case _:
                return False
    if {v.name for v, _, _ in sides if isinstance(v, k.Var)} - once:
        return False
    for s in after if isinstance(after, tuple | list) else ():
        match s:
            case k.Store() | k.Atomic() if all(
                s.array == array and axis < len(s.subscripts) and s.subscripts[axis] == v for v, array, axis in sides
            ):
                return True
            case _ if any(isinstance(x, k.Return | k.Break | k.Continue) for x in walked((s,))):
                return False  # some have left before they store
    return False


__all__ = ["with_whole_guards"]
