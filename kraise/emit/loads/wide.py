"""Places beside a number that their own type may not hold: the last element of an array, or the first one behind it.

JAX gives such a number the type of the array beside it, without a word (256 among bytes is 0), so bytes and shorts
become ints there, and so does what an argument holds whose type is open.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.context import Context, Frame, Val
from kraise.emit.lower import Lowering
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom
from kraise.ir import equations as eq
from kraise.ir.types import INT32, NUMBER, ScalarType


def wide(low: Lowering, place: eq.Expr, frame: Frame) -> Val:
    """``place``, in a type that holds every place of an array."""
    if _is_narrow(place.type):
        return low.lower(eq.Cast(INT32, place), frame)
    value = low.lower(place, frame)
    return replace(value, py=py.method(value.py, "astype", Atom("int"))) if _may_be_narrow(low.ctx, place) else value


def _is_narrow(t: ScalarType) -> bool:
    return t.is_integer and t.bits is not None and t.bits < 32


def _may_be_narrow(context: Context, place: eq.Expr) -> bool:
    """Whether nothing in ``place`` makes an int of the elements that it holds."""
    held, stack, seen = False, [place], {place}
    while stack:
        match stack.pop():
            case eq.Read(version=version):
                element = context.element(version.array)
                if element is not NUMBER and not _is_narrow(element):
                    return False
                held = True
            case eq.Cast(type=t) if t.is_integer and (t.bits or 32) >= 32:
                return False
            case eq.Index() | eq.CarryIn() | eq.FoldResult() | eq.Reduce() | eq.ArgReduce() | eq.Scan():
                return False  # ints
            case other:
                choice = isinstance(other, eq.Op) and other.name == "select"
                fresh = [c for c in tree.children(other)[1 if choice else 0 :] if c not in seen]
                seen.update(fresh)
                stack.extend(fresh)
    return held


__all__ = ["wide"]
