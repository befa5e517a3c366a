"""``dtype=`` of sums and products of integers that JAX would widen where the source lets them wrap."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.types import INT32, UINT32, ScalarType


def kept_width(context: Context, op: str, kind: ScalarType) -> dict[str, Py]:
    """That of narrow integers."""
    narrow = kind.is_integer and kind.bits is not None and kind.bits < (64 if context.x64 else 32)
    return {"dtype": Atom(f"jnp.{kind}")} if op in ("add", "mul") and narrow else {}


def summed_width(context: Context, node: eq.Reduce) -> dict[str, Py]:
    """That of a reduction over axes. JAX widens integers of 32 bits there, too, where its 64-bit mode is on, and a
    caller (another module) may have that on where this one does not ask for it. A signed sum may not overflow, but
    where it adds unsigned numbers."""
    if node.op in ("add", "mul") and (node.type == UINT32 or (node.type == INT32 and _of_unsigned(node.body))):
        return {"dtype": Atom(f"jnp.{node.type}")}
    return kept_width(context, node.op, node.type)


def _of_unsigned(body: eq.Expr) -> bool:
    return any(isinstance(n, eq.Cast) and n.arg.type == UINT32 for n in tree.walk(body))


__all__ = ["kept_width", "summed_width"]
