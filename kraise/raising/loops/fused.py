"""``fma(a, b, c)`` as ``a * b + c``, as which it is emitted: ``s = fmaf(x, y, s)`` is ``s += x * y`` to every rule."""

from __future__ import annotations

from typing import Any

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten, walked


def without_fused(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` with sums of products in place of operations that do both."""
    if not any(isinstance(n, k.Op) and n.name == "fma" for n in walked(body)):
        return body
    out: tuple[k.Stmt, ...] = rewritten(body, _apart)
    return out


def _apart(node: Any) -> Any:
    match node:
        case k.Op(name="fma", args=(a, b, c), type=t, span=span):
            a, b, c = rewritten((a, b, c), _apart)
            return k.Op("add", (k.Op("mul", (a, b), t, span=span), c), t, span=span)
    return None


__all__ = ["without_fused"]
