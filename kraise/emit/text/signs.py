"""Which integers are provably not negative: C's division and remainder of those are Python's."""

from __future__ import annotations

from kraise.emit.context import Context, Frame
from kraise.emit.text.linear import is_size, linear, nonnegative
from kraise.ir import equations as eq

LARGE = 1 << 16  # a factor beyond it (of a hash, a generator) makes a product of a width wrap


def is_nonnegative(ctx: Context, node: eq.Expr, frame: Frame) -> bool:
    """Whether the integer value is provably at least 0; products with large constants wrap, so nothing is said of
    them."""
    if node.type.kind == "uint":
        return True
    if _reinterpreted(node):
        return False
    lin = linear(node)
    if lin.constant < 0:
        return False
    sized = node.type.bits is not None
    for atom, c in lin.terms:
        if c < 0 or (sized and c >= LARGE):
            return False
        match atom:
            case eq.Index(name=name):
                axis = next((a for a in frame if a.name == name), None) or _fold_axis(ctx, name)
                if axis is None or not nonnegative(linear(axis.lo)):
                    return False
            case eq.Param(name=name):
                if not name.startswith(("grid.", "block.")):
                    return False
            case eq.Op(name="mul" | "add" | "min" | "floordiv" | "tdiv" | "mod" | "tmod" as name, args=args):
                if name == "mul" and sized and any(isinstance(a, eq.Const) and a.value.real >= LARGE for a in args):
                    return False
                if not all(is_nonnegative(ctx, a, frame) for a in args):
                    return False
            case _:
                if not is_size(atom):
                    return False
    return True


def _reinterpreted(node: eq.Expr) -> bool:
    """Whether an unsigned number that may have its highest bit set is read as a signed one: ``(int)max(a[i], 5u)``."""
    match node:
        case eq.Cast(type=kind, arg=arg) if kind.kind == "int" and arg.type.kind == "uint":
            return (kind.bits or 32) <= (arg.type.bits or 64) and not _counts(arg)
        case eq.Cast(arg=arg):
            return _reinterpreted(arg)
        case eq.Op(args=args):
            return any(map(_reinterpreted, args))
    return False


def _counts(node: eq.Expr) -> bool:
    """Whether a number is made of indices and sizes, and nothing is subtracted."""
    match node:
        case eq.Const(value=value):
            return value.real < LARGE
        case eq.Index() | eq.Param() | eq.Shape():
            return True
        case eq.Op(name="floordiv" | "tdiv" | "shr", args=(_, eq.Const(value=by))) if node.type.kind == "uint":
            return by.real >= (1 if node.name == "shr" else 2)
        case eq.Op(name="mul" | "add" | "min" | "max" | "floordiv" | "tdiv" | "mod" | "tmod", args=args):
            return all(map(_counts, args))
        case eq.Cast(arg=arg):
            return _counts(arg)
    return False


def _fold_axis(ctx: Context, name: str) -> eq.Axis | None:
    for block in ctx.blocks:
        if block.index == name:
            return block.axis
    return None
