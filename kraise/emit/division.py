"""C's quotients: ``jax.lax.div``, which takes operands of one type and shape and promotes none of Python's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraise.emit.context import Frame, Val
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.spelling import dtype_text
from kraise.ir import equations as eq
from kraise.ir.types import ScalarType
from kraise.ir.walk import free_indices, topological

if TYPE_CHECKING:
    from kraise.emit.lower import Lowering


def truncated(
    low: Lowering, texts: list[Py], values: list[Val], args: tuple[eq.Expr, ...], kind: ScalarType, frame: Frame
) -> Py:
    """The quotient of ``args``, whose values and texts these are, rounded towards zero."""
    literal = values[0].rank and isinstance(args[1], eq.Const)  # it takes the dividend's type
    if not literal and not all(map(_of_indices, args)):
        texts = [_of_width(low, *pair, kind) for pair in zip(texts, args, strict=True)]
    # lax.div does not promote numbers of Python's
    number = isinstance(texts[1], Atom) or isinstance(args[1], eq.Const)
    if not values[1].rank and number and (values[0].rank or not isinstance(texts[0], Atom)):
        first = texts[0]
        if first is values[0].py and not isinstance(py.unsliced(first), Atom):
            first = low.as_name(args[0], frame, "dividend").py
        return py.call("jax.lax.div", first, py.call("jnp.asarray", texts[1], py.Attr(py.unsliced(first), "dtype")))
    if values[0].rank == values[1].rank:
        return py.call("jax.lax.div", *texts)
    return py.call("jax.lax.div", py.Un("*", py.call("jnp.broadcast_arrays", *texts)))


def _of_width(low: Lowering, text: Py, arg: eq.Expr, kind: ScalarType) -> Py:
    """An operand of ``jax.lax.div``, which takes no weak integers: they have the default width."""
    default = 64 if low.ctx.x64 else 32
    weak = all(isinstance(n, eq.Const | eq.Param | eq.Shape | eq.Op) for n in topological((arg,)))
    if weak and not free_indices(arg) and kind.bits not in (None, default):
        return py.call(f"jnp.{kind}", text)
    if default == 64 and kind.bits == 32 and free_indices(arg) and _of_indices(arg):
        return py.method(text, "astype", Atom(dtype_text(kind)))  # a range has the machine's width
    return text


def _of_indices(node: eq.Expr) -> bool:
    """Whether a number is made of indices, sizes and numbers alone."""
    return all(isinstance(n, eq.Const | eq.Param | eq.Shape | eq.Op | eq.Index) for n in topological((node,)))
