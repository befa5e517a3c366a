"""Sums of products under a mask: one factor is put to zero where the mask does not hold."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.sums import contraction
from kraise.ir import equations as eq
from kraise.ir.types import INT


def guarded(low: Lowering, body: eq.Expr, where: eq.Expr) -> eq.Expr:
    """A product one factor of which is put to zero where the mask does not hold.

    What stands in cells that the source does not read (NaN, inf) would reach the gradients of the other factors, where
    the load that holds the mask's indices is not masked. Of two loads the other one may be: then the mask is the last
    operation before its gradient is summed, and XLA fuses the sum (of a product it makes a dot of two arrays).
    """
    match body:
        case eq.Op(name="neg", args=(a,), type=kind):
            inner = guarded(low, a, where)
            return body if inner is a else eq.Op("neg", (inner,), kind)
        case eq.Op(name="mul", args=args, type=kind) if not any(_zeroed(a) for a in args):
            for at, arg in enumerate(args):
                if isinstance(arg, eq.Read) and low.ctx.free(where) <= low.ctx.free(arg) and not arg.type.is_integer:
                    if len(args) == 2 and _vector(low, args[1 - at], where):
                        at, arg = 1 - at, args[1 - at]  # noqa: PLW2901
                    kept = eq.Op("select", (where, arg, eq.Const(0, INT)), arg.type)
                    return eq.Op("mul", (*args[:at], kept, *args[at + 1 :]), kind)
    return body


def _vector(low: Lowering, factor: eq.Expr, where: eq.Expr) -> bool:
    """Whether a factor is a load that has some of the mask's indices and no others."""
    return isinstance(factor, eq.Read) and frozenset() < low.ctx.free(factor) < low.ctx.free(where)


def _zeroed(factor: eq.Expr) -> bool:
    return isinstance(factor, eq.Op) and factor.name == "select" and any(map(_zero, factor.args[1:]))


def _zero(arm: eq.Expr) -> bool:
    return isinstance(arm, eq.Const) and arm.value == 0


def masked_product(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val | None:
    """``where(mask, A, 0) @ B`` for the sum of ``A[i, k] * B[k, j]`` over the k that a mask on i and k leaves: a
    contraction, where the product itself has an axis more than any of its factors. Else None.

    All of B is multiplied: its numbers are taken to be finite, and masked, too, where a loop around makes them one by
    one.
    """
    where = node.where
    if where is None or node.op != "add" or node.body.type.kind == "bool":
        return None
    summed, free = {a.name for a in node.axes}, low.ctx.free
    if not summed <= free(node.body):
        return None
    parts = contraction.factored(low, node.body, summed)
    inside = [f for f in parts.factors if free(f) & summed]
    hosts = [f for f in inside if free(where) <= free(f)]
    others = [f for f in inside if f not in hosts]
    names = {a.name for a in own}
    if not free(where) & names:
        return None  # a matrix and a vector of a loop's round: as a sum that XLA fuses it took a third of the time
    made = [f for f in others if free(where) & (names | summed) <= free(f) and _carried(low, f)]
    if not hosts or not others or any(f.type.kind == "bool" for f in inside):
        return None
    wide = frozenset().union(*map(free, others))
    if not (wide & names) - frozenset().union(*map(free, hosts)) or not summed <= wide:
        return None
    body: eq.Expr | None = None
    for f in parts.factors:
        if f in (*hosts, *made) and not _zeroed(f):
            f = eq.Op("select", (where, f, eq.Const(0, INT)), f.type)  # noqa: PLW2901
        body = f if body is None else eq.Op("mul", (body, f), node.type)
    assert body is not None
    for d in parts.divisors:
        body = eq.Op("div", (body, d), node.type)
    if parts.negative:
        body = eq.Op("neg", (body,), node.type)
    value = contraction.contract(low, eq.Reduce("add", node.axes, body, None, node.type), frame, own)
    if value is not None:
        low.ctx.finite |= {
            n.version.array: None for f in others if f not in made for n in tree.walk(f) if isinstance(n, eq.Read)
        }
    return value


def _carried(low: Lowering, factor: eq.Expr) -> bool:
    """Whether it holds what a loop around stores."""
    versions = {n.version for n in tree.walk(factor) if isinstance(n, eq.Read)}
    return any(versions & set(b.bound) for b in low.ctx.blocks)
