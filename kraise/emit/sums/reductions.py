"""Reductions over axes: ``sum``, ``prod``, ``min``, ``max``, ``any``, ``all``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from kraise.emit import tree
from kraise.emit.context import Context, Frame, Val
from kraise.emit.loads import table_rows, windows
from kraise.emit.loads.blocked import blocks
from kraise.emit.loads.views import expression
from kraise.emit.lower import Lowering
from kraise.emit.operands import literal
from kraise.emit.sums import (
    conditions,
    contraction,
    convolutions,
    counts,
    over_windows,
    pooling,
    running,
    side_by_side,
    stencils,
)
from kraise.emit.sums.widths import summed_width
from kraise.emit.sums.zeroed import guarded, masked_product
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.spelling import dtype_text
from kraise.ir import equations as eq
from kraise.ir.open_types import with_floats
from kraise.ir.operations import WIDENING
from kraise.ir.types import BOOL, INT, ScalarType

FUNCTIONS = {"add": "sum", "mul": "prod", "min": "min", "max": "max", "and": "all", "or": "any"}
BITWISE = {"and_": "bitwise_and", "or_": "bitwise_or", "xor": "bitwise_xor"}
_NESTED = 3  # extrema of slices that may stand in one another; beyond it a window says it on a line


def neutral(op: str, kind: ScalarType, x64: bool) -> Py:
    """The neutral element of ``op`` for an element type."""
    match op:
        case "add" | "or" | "or_" | "xor":
            return Atom("False") if kind.kind == "bool" or op == "or" and not kind.is_integer else _number(0, kind)
        case "mul":
            return _number(1, kind)
        case "and":
            return py.number(-1) if kind.is_integer else Atom("True")
        case "and_":
            return neutral("min", kind, x64) if kind.kind == "uint" else py.number(-1)  # all bits
    if kind.is_integer:
        limit = "max" if op == "min" else "min"
        name = ("jnp.int64" if x64 else "jnp.int32") if kind.bits is None else f"jnp.{kind}"
        most = py.Attr(py.call("jnp.iinfo", Atom(name)), limit)
        # more than a number of Python holds that is given to JAX in 32 bits
        large = op == "min" and kind.kind == "uint" and (kind.bits or 0) >= 32
        return py.call(name, most) if large else most
    return Atom("jnp.inf") if op == "min" else py.Un("-", Atom("jnp.inf"))


def _number(value: int, kind: ScalarType) -> Py:
    return py.number(float(value) if kind.is_inexact else value)


def masked(low: Lowering, body: eq.Expr, where: eq.Expr | None, op: str, frame: Frame) -> Val:
    """``body`` where the mask holds, the neutral element elsewhere."""
    if where is None:
        return low.lower(body, frame)
    if op == "add":
        safe = guarded(low, body, where)
        part = conditions.triangular_part(low, where, safe, frame)
        if part is not None:
            return Val(part, frame, len(frame))
        if safe is not body:
            body = safe
            low.as_name(where, frame, "mask")  # it is needed twice
    if op == "or":
        return low.lower(eq.Op("and", (where, body), BOOL), frame)
    mask, value = low.lower(where, frame), low.lower(body, frame)
    text = py.call("jnp.where", mask.py, value.py, neutral(op, body.type, low.ctx.x64))
    axes = tuple(a for a in frame if a in mask.axes or a in value.axes)
    return Val(text, axes, max(mask.rank, value.rank))


def declared_width(low: Lowering, node: eq.Reduce) -> tuple[eq.Reduce, dict[str, Py]]:
    """A sum of an array's elements in the accumulator's width as ``x.sum(dtype=...)``; JAX sums integers in 64 bits."""
    match node:
        case eq.Reduce(op="add" | "mul", body=eq.Op(name="wide_int" | "wide_float" as name, args=(eq.Read() as read,))):
            bare = replace(node, body=read)
            if name == "wide_int":
                return bare, {}
            if node.where is None and read.version.array in low.ctx.ndim:
                array = Atom(low.ctx.param_text(read.version.array))
                return bare, {"dtype": py.call("jnp.result_type", array, Atom(f"jnp.{WIDENING[name]}"))}
    return node, {}


def _depth(chain: eq.Op) -> int:
    """How many extrema stand in one another."""
    inner = chain.args[0]
    return 1 + (_depth(inner) if isinstance(inner, eq.Op) and inner.name == chain.name else 0)


def reduce(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val:
    from kraise.emit.sums import segments

    if node.op in BITWISE:
        return _of_bits(low, merged(low, node), frame, own)
    beside = side_by_side.contracted(low, node, own)
    chain = None if beside else windows.unrolled(low, node)
    if chain is not None:
        nested = isinstance(chain, eq.Op) and chain.name in ("min", "max") and _depth(chain) > _NESTED
        one = pooling.pooled(low, node, frame, own) if nested else None
        several = low.ctx.uses[node] > 1 and isinstance(chain, eq.Op) and chain.name == "add"
        one = stencils.by_columns(low, chain, frame) if several else one  # type: ignore[arg-type]
        return one or low.lower(chain, frame)
    window = None if beside else windows.generated(low, with_floats(node), frame, own)
    if window is not None:
        return window
    if node.op == segments.SOME:
        return segments.some_entry(low, node, frame, own)
    upto = segments.counted_up_to(low, node, frame, own)
    if upto is not None:
        return upto
    node = merged(low, node)
    number = counts.counted(low, node, frame, own)
    if number is not None:
        return number
    pooled = pooling.pooled(low, node, frame, own)
    if pooled is not None:
        return pooled
    filtered = convolutions.convolution(low, node, frame, own)
    if filtered is not None:
        return filtered
    written_out = None if beside else over_windows.over_window(low, with_floats(node), frame, own)
    if written_out is not None:
        return written_out
    total = running.running(low, node, frame, own) or masked_product(low, node, frame, own)
    if total is not None:
        return total
    if (by_row := table_rows.total(low, node, frame, own)) is not None:
        return by_row
    node = counted(node)
    if node.op == "add" and node.where is None:
        product = contraction.contract(low, node, frame, own)
        if product is not None:
            return product
    free = low.ctx.free(node.body) | (low.ctx.free(node.where) if node.where is not None else frozenset())
    present = tuple(a for a in node.axes if a.name in free)
    absent = tuple(a for a in node.axes if a.name not in free)
    node, said = (node, {}) if absent else declared_width(low, node)
    inner = as_read(low, node.body, own, present)
    value = masked(low, node.body, node.where, node.op, inner)
    text = value.py
    if (rows := _one_axis(low, node, inner, present, value)) is not None:
        return low.extend(reduction(FUNCTIONS[node.op], rows, (len(inner) - len(present),)), own, frame)
    if present:
        axes = tuple(sorted(inner.index(a) for a in present))
        initial = empty_value(low.ctx, node, present)
        some = None
        if initial is None or node not in low.ctx.constant:
            some = some_values(low.ctx, node, own, arrays=node in low.ctx.starts)
        if some is not None:
            start = low.ctx.starts.get(node)
            empty = neutral(node.op, node.type, low.ctx.x64) if start is None else literal(low, start).py
            initial = None
        width = said or summed_width(low.ctx, node)
        text = reduction(FUNCTIONS[node.op], text, () if len(axes) == len(inner) else axes, initial, width)
        if some is not None:
            empty = py.call("jnp.full", low.ctx.shape_of(own), empty) if own else empty
            return low.extend(py.IfExp(some, text, empty), own, frame)
        if not absent and isinstance(text, py.Call) and _kept(frame, own, inner):
            text = py.Call(text.func, text.args, (*text.keywords, ("keepdims", Atom("True"))))
            return Val(text, own, len(frame))
    for axis in absent:
        text = repeated(low.ctx, node.op, text, axis, node.type)
    return low.extend(text, own, frame)


def _of_bits(low: Lowering, node: eq.Reduce, frame: Frame, own: Frame) -> Val:
    """A combination of integers bit by bit, as the reduction of the ufunc of that name."""
    inner = as_read(low, node.body, own, node.axes)
    value = masked(low, node.body, node.where, node.op, inner)
    text = value.py
    if value.axes != inner or value.rank != len(inner):
        text = py.call("jnp.broadcast_to", text, low.ctx.shape_of(inner))
    axes = tuple(py.number(at) for at in sorted(inner.index(a) for a in node.axes))
    axis = {} if len(inner) == 1 else {"axis": axes[0] if len(axes) == 1 else py.Tup(axes)}
    return low.extend(py.call(f"jnp.{BITWISE[node.op]}.reduce", text, **axis), own, frame)


def _one_axis(low: Lowering, node: eq.Reduce, inner: Frame, present: Frame, value: Val) -> Py | None:
    """The values of an extremum over axes that do not lie beside one another with these as one, behind the others: JAX
    has the gradient in 0.7 of the time (measured on tiles of 3 by 3)."""
    ctx = low.ctx
    at = sorted(inner.index(a) for a in present)
    beside = all(b - a == 1 for a, b in zip(at, at[1:], strict=False))
    if (
        beside
        or node.op not in ("min", "max")
        or node in ctx.constant
        or node.type.is_integer
        or node.where is not None
    ):
        return None
    sizes = [ctx.size(inner[k]) for k in at]
    known = not any(s is None or not ctx.is_static(s) for s in sizes)
    if value.axes != inner or value.rank != len(inner) or not known or len(present) != len(node.axes):
        return None
    if empty_value(ctx, node, present) is not None or some_values(ctx, node, inner) is not None:
        return None
    rest = [k for k in range(len(inner)) if k not in at]
    count = expression(sizes[0])  # type: ignore[arg-type]
    for size in sizes[1:]:
        count = eq.Op("mul", (count, expression(size)), INT)  # type: ignore[arg-type]
    turned = py.call("jnp.transpose", value.py, py.Tup(tuple(map(py.number, (*rest, *at)))))
    return py.method(turned, "reshape", *(ctx.extent(inner[k]) for k in rest), ctx.static(count))


def merged(low: Lowering, node: eq.Reduce) -> eq.Reduce:
    """A sum of sums is one sum over both sets of axes."""
    body = node.body
    while (
        isinstance(body, eq.Reduce)
        and body.op == node.op
        and low.ctx.uses[body] <= 1
        and not {a.name for a in body.axes} & {a.name for a in node.axes}
    ):
        where = node.where if body.where is None else body.where
        if node.where is not None and body.where is not None:
            where = eq.Op("and", (node.where, body.where), BOOL)
        node = eq.Reduce(node.op, (*node.axes, *body.axes), body.body, where, node.type)
        body = node.body
    return node


def counted(node: eq.Reduce) -> eq.Reduce:
    """A sum of ``1 if c else 0`` counts ``c``."""
    match node:
        case eq.Reduce(op="add", body=eq.Op(name="select", args=(c, eq.Const(value=1), eq.Const(value=0)))):
            if node.type.is_integer and node.where is None:
                return eq.Reduce("add", node.axes, c, None, node.type)
        case eq.Reduce(op="add", body=eq.Const(value=1), where=where) if where is not None and node.type.is_integer:
            return eq.Reduce("add", node.axes, where, None, node.type)
    return node


def reduction(
    function: str,
    text: Py,
    axes: tuple[int, ...],
    initial: Py | None = None,
    width: Mapping[str, Py] = MappingProxyType({}),
) -> Py:
    """``x.sum(axis=1)`` for a name, ``jnp.sum(expression, axis=1)`` otherwise; ``width`` as of :func:`summed_width`."""
    keywords: dict[str, Py] = {}
    if axes:
        numbers = tuple(py.number(a) for a in axes)
        keywords["axis"] = numbers[0] if len(axes) == 1 else py.Tup(numbers)
    if initial is not None:
        keywords["initial"] = initial
    keywords |= width
    if isinstance(text, Atom):
        return py.method(text, function, **keywords)
    return py.call(f"jnp.{function}", text, **keywords)


def empty_value(context: Context, node: eq.Reduce, axes: Frame) -> Py | None:
    """``initial=`` of a minimum or maximum whose domain may be empty."""
    if node.op not in ("min", "max"):
        return None
    if node in context.nonempty or all(_never_empty(context, a) for a in axes):
        return None
    if node.type.kind == "number" and node.where is None:
        return None  # an infinity is no integer, and the argument may hold integers: it must not be empty
    return neutral(node.op, node.type, context.x64)


def some_values(context: Context, node: eq.Reduce, frame: Frame, arrays: bool = False) -> Py | None:
    """Whether there is a value to take the extremum of, as a condition on sizes; None where that needs no question: it
    cannot be otherwise, or the result, over ``frame``, has no elements either. ``arrays``: an axis of an array whose
    type nobody knows may have none, too.

    ``initial=`` will not do where a derivative is taken: JAX's tangent of an extremum of nothing is NaN.
    """
    if node.op not in ("min", "max") or node in context.nonempty or node.type.is_integer:
        return None
    open_ = [a for a in node.axes if not _never_empty(context, a)]
    size = linear(open_[0].hi) - linear(open_[0].lo) if len(open_) == 1 else Linear()
    if not size.terms or len(node.axes) > 1 or not context.is_static(size):
        return None
    if any(a not in node.axes and (linear(a.hi) - linear(a.lo)).same(size) for a in frame):
        return None
    cells = all(isinstance(atom, eq.Shape) and k > 0 for atom, k in size.terms)
    if not arrays and node.type.kind == "number" and cells and size.constant + sum(k for _, k in size.terms) > 0:
        return None  # an axis of an array, which is not without elements
    more = Linear(tuple((atom, k) for atom, k in size.terms if k > 0), max(size.constant, 0))
    return py.Bin(">", context.static(more), context.static(more - size))


def as_read(low: Lowering, body: eq.Expr, own: Frame, present: Frame) -> Frame:
    """The axes of a reduction's body in the order of the array that has them all, if the result's are in order there;
    else the reduced ones last."""
    default = (*own, *present)
    by_name = {a.name: a for a in default}
    for node in tree.walk(body):
        known = low.variable(node, default)
        if known is not None or isinstance(node, eq.Read):
            along = (n for s in tree.children(node) for n in _along(low, s, default))
            names = [a.name for a in known[1]] if known is not None else list(along)
            if len(names) == len(set(names)) == len(default):
                order = tuple(by_name[n] for n in names)
                if tuple(a for a in order if a in own) == own:
                    return order
    return default


def _along(low: Lowering, subscript: eq.Expr, axes: Frame) -> tuple[str, ...]:
    """The axes of a subscript in the order in which its dimension shows them; each twice if it shows none."""
    own = tuple(a for a in axes if a.name in low.ctx.free(subscript))
    if len(own) < 2:
        return tuple(a.name for a in own)
    part = blocks(low.ctx, subscript, own)
    return (part.outer.name, part.inner.name) if part else tuple(a.name for a in own for _ in range(2))


def _kept(frame: Frame, own: Frame, inner: Frame) -> bool:
    """Whether the value is used with other axes at the places of those that are reduced."""
    return bool(own) and len(frame) == len(inner) and all(frame.index(a) == inner.index(a) for a in own)


def _never_empty(context: Context, axis: eq.Axis) -> bool:
    size = linear(axis.hi) - linear(axis.lo)
    if any(nonnegative(size - a + -1) for a in context.assumed):
        return True
    if any(not (isinstance(atom, eq.Param) and atom.name.startswith("block.") and k > 0) for atom, k in size.terms):
        return False
    return size.constant + sum(k for _, k in size.terms) > 0  # a block has a thread


def repeated(context: Context, op: str, text: Py, axis: eq.Axis, kind: ScalarType) -> Py:
    """The reduction of a value that does not depend on ``axis``."""
    size = linear(axis.hi) - linear(axis.lo)
    count = context.extent(axis)
    match op:
        case "add":
            return text if size.same(Linear((), 1)) and axis.step == 1 else py.Bin("*", count, text)
        case "mul":
            if kind.is_integer and isinstance(text, py.Atom) and text.text.lstrip("-").isdigit():  # wraps as its type
                text = py.call("jnp.asarray", text, *([Atom(dtype_text(kind))] if kind.bits else []))
            return py.Bin("**", text, count)
    if not size.terms and size.constant > 0:
        return text
    return py.call("jnp.where", py.Bin(">", count, py.number(0)), text, neutral(op, kind, context.x64))
