"""Guards that an atomic minimum or maximum makes needless are left out (:mod:`kraise.ir.spared`; Kernel IR to Kernel
IR)."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from kraise.ir import kernel as k
from kraise.ir.rewrite import rewritten
from kraise.ir.spared import spared
from kraise.ir.types import BOOL


def without_needless(body: tuple[k.Stmt, ...]) -> tuple[k.Stmt, ...]:
    """``body`` without such guards; the same if there are none."""

    def visit(node: object) -> object | None:
        found = spared(node) if isinstance(node, k.If) else None
        if found is None or not isinstance(node, k.If):
            return None
        atomic, _, others = found
        if not others:
            return atomic
        return replace(node, condition=reduce(lambda a, b: k.Op("and", (a, b), BOOL, span=a.span), others))

    return rewritten(body, visit)


__all__ = ["without_needless"]
