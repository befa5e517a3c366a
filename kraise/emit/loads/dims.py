"""What a subscript is over the axes of a frame: one position, a slice, a roll, a clamp, blocks, or a gather."""

from __future__ import annotations

from dataclasses import dataclass

from kraise.emit.context import Context, Frame
from kraise.emit.loads.blocked import Blocks
from kraise.emit.text import python as py
from kraise.emit.text.linear import Linear, linear
from kraise.emit.text.python import ALL, Py, Slice
from kraise.ir import equations as eq
from kraise.ir.types import INT


@dataclass(frozen=True)
class Scalar:
    """One position."""

    expr: eq.Expr


@dataclass(frozen=True)
class Range:
    """``start : stop : step`` of an axis, ``start`` the smallest element (reversed afterwards if ``backward``).

    The step of a window may be a size of the source.
    """

    axis: eq.Axis
    start: Linear
    stop: Linear
    step: int | eq.Expr
    backward: bool = False


@dataclass(frozen=True)
class Roll:
    """``(index + shift) % size`` over ``size`` positions: the whole extent, or the first ``part`` of it."""

    axis: eq.Axis
    shift: Linear
    part: Linear | None = None


@dataclass(frozen=True)
class Gather:
    """Any other subscript over the frame's axes."""

    expr: eq.Expr
    axes: Frame


@dataclass(frozen=True)
class Clamp:
    """``index + shift``, brought to the first or the last of the cells that are read: the whole extent, or the first
    ``part`` of it. ``before`` and ``after``: by how many cells the array is padded."""

    axis: eq.Axis
    shift: int
    part: Linear | None
    before: int
    after: int

    def cells(self, context: Context) -> Py:
        """The slice of the padded array."""
        start = self.shift + self.before
        if self.after > 0 or self.shift >= 0:
            return ALL if start == 0 else Slice(py.number(start), None)
        stop = py.number(self.shift) if self.part is None else context.static(linear(self.axis.hi))
        return Slice(None, stop)  # a part may end before it: what is cut off is counted from the start


Dim = Scalar | Range | Roll | Clamp | Blocks | Gather


def step_of(context: Context, dim: Range) -> Py | None:
    """A slice's step, None for 1."""
    if isinstance(dim.step, int):
        return None if dim.step == 1 else py.number(dim.step)
    return context.static(dim.step)


def turned(dim: Range) -> Py:
    """The step of a slice from its end."""
    assert isinstance(dim.step, int)  # a size is no step of those
    return py.number(-dim.step)


def classify(context: Context, subscript: eq.Expr, extent: Linear, frame: Frame) -> Dim:
    """What one subscript is, over a frame."""
    free = context.free(subscript)
    axes = tuple(a for a in frame if a.name in free)
    if not axes:
        return Scalar(subscript)
    if len(axes) > 1:
        return Gather(subscript, axes)
    (axis,) = axes
    form = linear(subscript)
    mine = [(a, c) for a, c in form.terms if isinstance(a, eq.Index) and a.name == axis.name]
    others = [a for a, _ in form.terms if not (isinstance(a, eq.Index) and a.name == axis.name)]
    if len(mine) == 1 and all(axis.name not in context.free(a) for a in others):
        atom, c = mine[0]
        rest = form.without(atom)
        if context.is_static(rest):
            return _range(axis, c, rest)
        return Gather(subscript, axes)
    if (window := _by_size(context, form, axis)) is not None:
        return window
    rolled = roll_of(form, axis, extent)
    if rolled is not None and context.is_static(rolled.shift) and (not rolled.part or context.is_static(rolled.part)):
        return rolled
    return _clamp(context, form, axis, extent) or Gather(subscript, axes)


def is_whole(dim: Dim, extent: Linear) -> bool:
    """Whether a subscript is over the whole extent, from its first place to its last one."""
    if not isinstance(dim, Range) or dim.step != 1 or dim.backward:
        return False
    return dim.start.same(Linear()) and dim.stop.same(extent)


def _by_size(context: Context, form: Linear, axis: eq.Axis) -> Range | None:
    """The places ``i * stride + tap`` of a window that the taps of a sum move.

    The stride is a size of the source's own (no block's), and no less than 1.
    """
    mine = [(a, c) for a, c in form.terms if axis.name in context.free(a)]
    if len(mine) != 1 or mine[0][1] != 1 or axis.step != 1 or not linear(axis.lo).same(Linear()):
        return None
    atom, _ = mine[0]
    match atom:
        case eq.Op(name="mul", args=(eq.Index() as i, eq.Param() as stride) | (eq.Param() as stride, eq.Index() as i)):
            rest = form.without(atom)
            moved = any(context.is_moving(n) for a, _ in rest.terms for n in context.free(a))
            static = context.is_static(rest) and context.is_static(linear(stride))
            if i.name == axis.name and moved and static and "." not in stride.name:
                stop = linear(eq.Op("mul", (axis.hi, stride), INT))
                return Range(axis, rest, stop + rest, stride)
    return None


def _clamp(context: Context, form: Linear, axis: eq.Axis, extent: Linear) -> Clamp | None:
    """A subscript that is clamped to the first cell, the last one of so many, or both, where it leaves these by a
    known number of cells."""
    if len(form.terms) != 1 or form.constant or form.terms[0][1] != 1 or axis.step != 1:
        return None
    size = linear(axis.hi)
    if not (size.terms and linear(axis.lo).same(Linear()) and context.is_static(size)):
        return None
    moved, floor, limit = form, False, None
    for _ in range(2):
        atom = moved.terms[0][0]
        if len(moved.terms) != 1 or moved.constant or not isinstance(atom, eq.Op) or atom.name not in ("min", "max"):
            break
        pairs = [(linear(a), linear(b)) for a, b in (atom.args, atom.args[::-1]) if axis.name in context.free(a)]
        if len(pairs) != 1 or (atom.name == "max" and (floor or not pairs[0][1].same(Linear()))):
            return None
        moved, end = pairs[0]
        floor |= atom.name == "max"
        if atom.name == "min":
            if limit is not None:
                return None
            limit = end + 1
        if not moved.terms:
            return None
    index = [t for t, c in moved.terms if isinstance(t, eq.Index) and t.name == axis.name and c == 1]
    shift, cells = moved.constant, size if limit is None else limit
    beyond = size + shift - cells
    if len(moved.terms) != 1 or not index or beyond.terms or not context.is_static(cells):
        return None
    before, after = max(-shift, 0) if floor else 0, max(beyond.constant, 0)
    cells = cells if after else size  # an end that is never reached
    if (shift < 0 and not floor) or not (before or after):
        return None  # nothing keeps it from cells before the first; or it is no clamp
    return Clamp(axis, shift, None if cells.same(extent) else cells, before, after)


def _range(axis: eq.Axis, c: int, rest: Linear) -> Range:
    lo, hi = linear(axis.lo), linear(axis.hi)
    if c > 0:
        stop = hi + rest if c == 1 else hi.times(c) + rest
        return Range(axis, lo.times(c) + rest, stop, c * axis.step)
    start = (hi + -1).times(c) + rest
    if c < -1 and axis.step == 1 and lo.same(Linear()) and len(hi.terms) == 1 and not hi.constant:
        match hi.terms[0]:
            case eq.Op(name="floordiv", args=(e, eq.Const(value=int() as by))), 1 if by == -c:
                start = rest + by - linear(e)  # as many from the end on, by no quotient
    return Range(axis, start, lo.times(c) + rest + 1, -c * axis.step, True)


def roll_of(form: Linear, axis: eq.Axis, extent: Linear) -> Roll | None:
    """A subscript that goes round, by whatever the shift is; None where it does not."""
    if len(form.terms) != 1 or form.constant:
        return None
    atom, c = form.terms[0]
    match atom:
        case eq.Op(name="mod" | "tmod", args=(inner, modulus)) if c == 1:
            n = linear(modulus)
            whole = n.same(linear(axis.hi)) and linear(axis.lo).same(Linear()) and axis.step == 1
            shift = linear(inner)
            index = [(a, k) for a, k in shift.terms if isinstance(a, eq.Index)]
            if not whole or len(index) != 1 or index[0][1] != 1 or index[0][0].name != axis.name:
                return None
            rest = shift.without(index[0][0])
            # a multiple of the modulus changes nothing
            if len(n.terms) == 1 and n.constant == 0 and n.terms[0][1] == 1:
                rest = rest.without(n.terms[0][0])
            return Roll(axis, rest, None if n.same(extent) else n)
    return None


def leaves_row(column: eq.Expr, n: eq.Expr, frame: Frame) -> bool:
    """Whether nothing shows that the column is one of the row's n."""
    match column:
        case eq.Op(name="mod", args=(_, by)):
            return not linear(by).same(linear(n))
        case eq.Index(name=name):
            tops = [a.hi for a in frame if a.name == name]
            ends = [e for hi in tops for e in (hi.args if isinstance(hi, eq.Op) and hi.name == "min" else (hi,))]
            rooms = [linear(n) - linear(e) for e in ends]
            return bool(rooms) and not any(not r.terms and r.constant >= 0 for r in rooms)
    return isinstance(column, eq.Op)
