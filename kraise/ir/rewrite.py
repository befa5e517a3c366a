"""Kernel IR with some of its nodes replaced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from kraise.ir.types import ScalarType


def rewritten(x: Any, visit: Callable[[Any], Any | None]) -> Any:
    """``x`` (a node, or a tuple of nodes) with what ``visit`` gives in place of a node; None leaves it to its parts,
    and a tuple in place of a node among others is as many nodes."""
    if isinstance(x, tuple):
        pairs = [(i, rewritten(i, visit)) for i in x]
        if all(a is b for a, b in pairs):
            return x
        return tuple(n for a, b in pairs for n in (b if isinstance(b, tuple) and not isinstance(a, tuple) else (b,)))
    if not is_dataclass(x) or isinstance(x, ScalarType | type):
        return x
    found = visit(x)
    if found is not None:
        return found
    changes = {}
    for f in fields(x):
        if f.name not in ("span", "type"):
            old = getattr(x, f.name)
            new = rewritten(old, visit)
            if new is not old:
                changes[f.name] = new
    return replace(x, **changes) if changes else x


__all__ = ["rewritten"]
