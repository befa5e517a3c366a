"""Names of libraries that are values: ``math.pi``, ``np.inf``, ``cuda.threadIdx.x``, ``cuda.laneid``."""

from __future__ import annotations

import libcst as cst

from kraise import dialects
from kraise.frontends.python import expressions as ex
from kraise.frontends.python.scope import Scope
from kraise.frontends.python.source import dotted
from kraise.ir.kernel import Const, Expr, Hw
from kraise.ir.types import FLOAT, INT


def constant(scope: Scope, name: str, node: cst.CSTNode) -> Expr | None:
    """``math.pi``, ``cuda.warpsize``, ``cuda.laneid``, ``cuda.threadIdx.x``; None if the name is none of these."""
    span = scope.span(node)
    first, dot, rest = name.partition(".")
    qualified = scope.imports.qualified(name) if first not in scope.bound else ""
    if first in scope.hardware:
        qualified = scope.hardware[first] + dot + rest
    if not qualified:
        return None
    value = dialects.constants("numpy_scalar").get(qualified)
    if value is not None:
        return Const(value, FLOAT, span=span)
    vocabulary = dialects.vocabulary("numba_cuda")
    if vocabulary.get(qualified) == "warp_size":
        return Const(32, INT, span=span)
    if vocabulary.get(qualified) == "lane":
        thread = linear_thread(scope, span) if scope.several_axes else Hw("thread", 0, INT, span=span)
        return ex.op("mod", thread, ex.integer(32, span), span=span)
    head, _, axis = qualified.rpartition(".")
    kind = vocabulary.get(head, "")
    if kind in ("thread", "block", "blockDim", "gridDim") and axis in ("x", "y", "z"):
        return Hw(kind, "xyz".index(axis), INT, span=span)
    return None


def is_hardware(scope: Scope, node: cst.CSTNode) -> bool:
    """Is it ``cuda.threadIdx`` itself (or blockIdx, blockDim, gridDim), without an axis?"""
    name = dotted(node)
    if not name or name.partition(".")[0] in scope.bound:
        return False
    kind = dialects.vocabulary("numba_cuda").get(scope.imports.qualified(name), "")
    return kind in ("thread", "block", "blockDim", "gridDim")


def linear_thread(scope: Scope, span) -> Expr:
    """The thread's number in its block, x fastest."""
    x, y, z = (Hw("thread", k, INT, span=span) for k in range(3))
    bx, by = (Hw("blockDim", k, INT, span=span) for k in range(2))
    return ex.op(
        "add", x, ex.op("mul", bx, ex.op("add", y, ex.op("mul", by, z, span=span), span=span), span=span), span=span
    )
