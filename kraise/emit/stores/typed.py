"""Values of the type of the array that they are stored to."""

from __future__ import annotations

from kraise.emit import tree
from kraise.emit.context import Context
from kraise.emit.loads import widened
from kraise.emit.loops.carries import of_made
from kraise.emit.stores import versions
from kraise.emit.text import python as py
from kraise.emit.text.python import Py
from kraise.ir import equations as eq
from kraise.ir.open_types import is_open, kind_of
from kraise.ir.types import FLOAT, NUMBER, UINT64, ScalarType
from kraise.ir.walk import is_unsigned_size


def typed(ctx: Context, stmt: eq.Write, text: Py) -> Py:
    """An array of values with the element type of the array that they become."""
    array, loads = stmt.before.array, [n for n in data(stmt.value) if isinstance(n, eq.Read)]
    element = ctx.element(array)
    weak = not loads and element is NUMBER  # a choice of numbers is as JAX makes numbers
    # what rounds store there may be as wide as an argument, which numbers and integers know nothing of
    wider = all(n.type.is_integer for n in loads) and array in ctx.extents and of_made(ctx, array, element) is not None
    if not same_type(ctx, stmt) or weak or wider:
        return py.method(text, "astype", versions.dtype_of(ctx, stmt.before))
    return text


def same_type(context: Context, stmt: eq.Write) -> bool:
    """Whether the value surely has the array's element type."""
    element = context.element(stmt.before.array)
    if element is not NUMBER:
        return stmt.value.type is element or stmt.value.type == element
    if stmt.before.array in context.extents and stmt.before.array not in context.like:
        return True  # made of the values that it is to hold
    own = context.like.get(stmt.before.array, stmt.before.array)
    root = stmt.value
    for node in data(root):
        match node:
            case eq.Read(version=version) if context.like.get(version.array, version.array) == own:
                pass
            case eq.Op(name="add" | "sub" | "mul" | "neg" | "min" | "max" | "select"):
                pass
            case eq.Scan(op="add", init=init, body=body) if kind_of(init) == FLOAT and is_open(body):
                return False
            case eq.Scan(op="add" | "mul" | "min" | "max" | "sort") if widened.NAME not in context.needs:
                pass  # of bytes, too, JAX's running values are of the array's own type
            case eq.Const(type=kind) if kind.is_integer or isinstance(root, eq.Scan):
                pass  # what a running value starts from is neutral
            case _:
                return False
    return True


def data(root: eq.Expr) -> set[eq.Expr]:
    """The parts of a value that are not only parts of subscripts and conditions."""
    stack, seen = [root], {root}
    while stack:
        top = stack.pop()
        if not isinstance(top, eq.Read):
            choice = isinstance(top, eq.Op) and top.name == "select"
            fresh = [c for c in tree.children(top)[1 if choice else 0 :] if c not in seen]
            seen.update(fresh)
            stack.extend(fresh)
    return seen


def cast(context: Context, stmt: eq.Write, text: Py, whole: bool = False) -> Py:
    """``.astype(y.dtype)`` where a scatter would otherwise warn about the types, or what is added is below zero, or a
    sum, and may be of bytes, or of numbers without a sign."""
    if not whole and stmt.accumulate == "add" and (first := _first_of_others(context, stmt, text)) is not None:
        return _first_as(text, first)
    element, kind = context.element(stmt.before.array), stmt.value.type
    narrow = (
        element.bits is not None and kind.bits is not None and kind.kind == element.kind and kind.bits > element.bits
    )
    unsigned = kind.kind == "uint" or (kind.bits is None and any(map(is_unsigned_size, data(stmt.value))))
    mixed = kind == UINT64 != element or (unsigned and element.kind != "uint")  # beside a signed one it has no type
    match stmt.value:
        case eq.Const(value=int(number)) if (0 if element.kind == "uint" else -128) <= number < 128:
            if stmt.accumulate and stmt.where is not None and element.kind == "uint":
                return py.method(text, "astype", versions.dtype_of(context, stmt.before))  # a choice of two is signed
            return text  # a number takes the array's type
    wide = widened.NAME in context.needs and (element.kind == "number" or element.bits in (8, 16))
    machine = kind.is_integer and (_is_narrow(element) or element == UINT64) and as_wide_as_jax(stmt.value, context.x64)
    if narrow or mixed or wide or machine or (element.is_integer and not kind.is_integer and kind.kind != "bool"):
        static = context.is_static(stmt.value) and kind.is_integer
        if static or _is_number(stmt.value) or _is_count(context, stmt.value):  # one of Python's
            return py.call("jnp.asarray", text, versions.dtype_of(context, stmt.before))
        return py.method(text, "astype", versions.dtype_of(context, stmt.before))
    return text


def _first_of_others(context: Context, stmt: eq.Write, text: Py) -> Py | None:
    """The dtype of the first term, if a sum or what is less than zero is made of other arrays alone, of open types: the
    array's own, or what that makes with the term's; None for any other value."""
    root = stmt.value.body if isinstance(stmt.value, eq.Reduce) and isinstance(text, py.Un) else stmt.value
    if not isinstance(root, eq.Op) or root.name not in ("neg", "add", "sub") or not is_open(root):
        return None
    own, parts = stmt.before.array, data(root)
    terms = [n for n in parts if isinstance(n, eq.Op) and n.name in ("neg", "add", "sub")]
    arrays = {n.version.array for n in parts if isinstance(n, eq.Read)}
    given = all(a in context.ndim and a not in context.extents for a in (own, *arrays))
    if len(terms) + sum(isinstance(n, eq.Read) for n in parts) < len(parts) or not arrays or own in arrays or not given:
        return None  # a factor would lose what it has behind the point
    if context.element(own) is not NUMBER:
        return None
    if len(terms) == 1 and root.name == "neg":
        return versions.dtype_of(context, stmt.before)
    first: eq.Expr = root
    while isinstance(first, eq.Op):
        first = first.args[0]
    assert isinstance(first, eq.Read)
    return py.call("jnp.result_type", *(py.Atom(context.param_text(a)) for a in (first.version.array, own)))


def _first_as(text: Py, dtype: Py) -> Py:
    """A sum whose first term has a type, as all others then have."""
    match text:
        case py.Bin(op="+" | "-" | "*" as op, left=left, right=right):
            return py.Bin(op, _first_as(left, dtype), right)
        case py.Un(op=op, operand=operand):
            return py.Un(op, _first_as(operand, dtype))
    return py.method(text, "astype", dtype)


def _is_number(e: eq.Expr) -> bool:
    return isinstance(e, eq.Const) or (isinstance(e, eq.Cast | eq.Op) and all(map(_is_number, tree.children(e))))


def _is_count(context: Context, e: eq.Expr) -> bool:
    """Whether a value is made of sums of equal numbers, so many as sizes say: a number of Python's."""
    match e:
        case eq.Reduce(op="add", body=body, where=None):
            return context.is_static(body)
        case eq.Op(args=args):
            return all(context.is_static(a) or _is_count(context, a) for a in args)
        case eq.Cast(arg=arg):
            return _is_count(context, arg)
    return False


def _is_narrow(element: ScalarType) -> bool:
    return element is NUMBER or (element.is_integer and element.bits is not None and element.bits < 64)


def as_wide_as_jax(value: eq.Expr, x64: bool) -> bool:
    """Whether an integer has 64 bits wherever JAX's own integers have them, though the source gives it fewer: ranges,
    places of extrema, sums (those of a module that asks for 64 bits say their type)."""
    if value.type.kind == "bool":
        return False
    match value:
        case eq.Index():
            return True
        case eq.ArgReduce(op=op):
            return op != "bisect"  # searchsorted gives 32 bits
        case eq.Reduce(op=op, body=body):
            return (op in ("add", "mul") and (not x64 or value.type.bits is None)) or as_wide_as_jax(body, x64)
        case eq.Scan(body=body):  # its own type is its values'
            return not any(isinstance(n, eq.Read) for n in data(body)) or as_wide_as_jax(body, x64)
        case eq.Op(name=name, args=args):
            return any(as_wide_as_jax(a, x64) for a in args[1 if name == "select" else 0 :])
    return False


__all__ = ["as_wide_as_jax", "cast", "data", "same_type", "typed"]
