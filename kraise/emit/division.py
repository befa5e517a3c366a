"""C's quotients and remainders: ``jax.lax.div`` and ``rem``, which take operands of one type and shape and promote none
of Python's numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kraise.emit.context import Frame, Val
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.ir import equations as eq
from kraise.ir.types import ScalarType
from kraise.ir.walk import free_indices, topological

if TYPE_CHECKING:
    from kraise.emit.lower import Lowering


def truncated(
    low: Lowering, texts: list[Py], values: list[Val], args: tuple[eq.Expr, ...], kind: ScalarType, frame: Frame
) -> Py:
    """The quotient of ``args``, whose values and texts these are, rounded towards zero."""
    data = [k for k, a in enumerate(args) if not _of_indices(a, low.ctx.x64)]
    if not data:
        texts = _of_numbers(low, texts, values, args, kind, frame)
    elif len(data) == 1 or any(map(_summed, args)):  # the other is a number, or of the machine's width
        texts = list(texts)
        k = data[0]
        texts[k] = _named(low, texts[k], values[k], args[k], frame, ("dividend", "divisor")[k])
        dtype = py.Attr(py.unsliced(texts[k]), "dtype")
        array = values[1 - k].rank
        text = texts[1 - k]
        texts[1 - k] = py.method(text, "astype", dtype) if array else py.call("jnp.asarray", text, dtype)
    alike = isinstance(texts[1], py.Call) and not values[1].rank  # lax.div takes one number of the dividend's type
    if values[0].rank == values[1].rank or alike:
        return py.call("jax.lax.div", *texts)
    return py.call("jax.lax.div", py.Un("*", py.call("jnp.broadcast_arrays", *texts)))


def remainder(texts: list[Py], values: list[Val], args: tuple[eq.Expr, ...], x64: bool) -> Py:
    """What is left of C's quotient. ``jnp.fmod`` looks for divisors that are zero, where it promotes its operands."""
    a, b = args
    alike = a.type == b.type and a.type.is_integer and a.type.bits is not None and not any(map(_summed, args))
    if alike and values[0].rank == values[1].rank > 0 and not any(_of_indices(e, x64) for e in args):
        return py.call("jax.lax.rem", *texts)
    return py.call("jnp.fmod", *texts)


def _of_numbers(
    low: Lowering, texts: list[Py], values: list[Val], args: tuple[eq.Expr, ...], kind: ScalarType, frame: Frame
) -> list[Py]:
    """Operands of indices and sizes alone: ``jax.lax.div`` does not promote Python's numbers."""
    if all(map(_weak, args)):
        atoms = isinstance(texts[0], Atom) or not kind.bits
        return texts if atoms else [py.call(f"jnp.{kind}", text) for text in texts]
    number = isinstance(texts[1], Atom) or isinstance(args[1], eq.Const)
    if not values[1].rank and number and (values[0].rank or not isinstance(texts[0], Atom)):
        first = _named(low, texts[0], values[0], args[0], frame, "dividend")
        return [first, py.call("jnp.asarray", texts[1], py.Attr(py.unsliced(first), "dtype"))]
    return texts


def _named(low: Lowering, text: Py, value: Val, arg: eq.Expr, frame: Frame, wish: str) -> Py:
    """An operand whose dtype can be asked for: an expression becomes a variable."""
    return text if text is not value.py or isinstance(py.unsliced(text), Atom) else low.as_name(arg, frame, wish).py


def _summed(arg: eq.Expr) -> bool:
    """Whether a number is computed from sums, which JAX makes as wide as the machine's integers."""
    return any(isinstance(n, eq.Reduce | eq.Scan) for n in topological((arg,)))


def _weak(arg: eq.Expr) -> bool:
    """Whether a number is one of Python's, or computed from such."""
    plain = all(isinstance(n, eq.Const | eq.Param | eq.Shape | eq.Op) for n in topological((arg,)))
    return plain and not free_indices(arg)


def _of_indices(node: eq.Expr, x64: bool) -> bool:
    """Whether a number is made of indices, sizes and numbers alone, or chosen from such."""
    from kraise.emit.stores.typed import as_wide_as_jax

    if not _summed(node) and as_wide_as_jax(node, x64):
        return True
    return all(isinstance(n, eq.Const | eq.Param | eq.Shape | eq.Op | eq.Index) for n in topological((node,)))
