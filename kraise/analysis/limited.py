"""Numbers of which only the range is known: ``v & 7``, ``v % 5`` of what data say, where parts of an array begin."""

from __future__ import annotations

from typing import Any

from kraise.ir import equations as eq


def limits(e: eq.Expr) -> tuple[int, int] | None:
    """The least and the greatest value that an operation can have whatever its operand is; None if there is none."""
    match e:
        case eq.Cast(type=t, arg=arg) if t.is_integer and (found := limits(arg)) is not None:
            bits = 32 if t.bits is None else t.bits
            least = -(1 << bits - 1) if t.kind == "int" else 0
            return found if least <= found[0] and found[1] < least + (1 << bits) else None
        case eq.Op(name="and_", args=(_, eq.Const(value=int() as mask)) | (eq.Const(value=int() as mask), _)):
            return (0, int(mask)) if mask >= 0 else None
        case eq.Op(name="mod" | "tmod" as name, args=(a, eq.Const(value=int() as by))) if by > 0 and a.type.is_integer:
            unsigned = name == "mod" or a.type.kind == "uint"
            return (0 if unsigned else 1 - int(by)), int(by) - 1
    return None


def limited(space: Any, e: eq.Expr, rename: dict[str, str]) -> str | None:
    """What only the range is known of, as a variable of its own on each side of a question of two accesses."""
    if space.limited is None or (ends := limits(e)) is None:
        return None
    key = e, getattr(rename, "suffix", "")
    if key not in space.limited:
        v = space.limited[key] = space.variable(f"limited {len(space.limited)}")
        space.constraints.append(f"{ends[0]} <= {v} and {v} <= {ends[1]}")
        space.dropped = True
    return space.limited[key]  # type: ignore[no-any-return]


__all__ = ["limited"]
