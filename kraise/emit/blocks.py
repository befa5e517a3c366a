"""What the emitter writes into: values aligned with a frame, statements, and the blocks that hold them."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraise.diagnostics import Span
from kraise.emit.text import python as py
from kraise.emit.text.doc import WIDTH
from kraise.emit.text.linear import Linear, linear, nonnegative
from kraise.emit.text.python import Py
from kraise.ir import equations as eq

Frame = tuple[eq.Axis, ...]


@dataclass(frozen=True)
class Val:
    """An array expression aligned with the right end of a frame.

    ``axes`` are the frame's axes that it has (in order), ``rank`` the number of array axes: from its first own axis to
    the end of the frame, with extent 1 where the axis between is not its own.
    """

    py: Py
    axes: Frame
    rank: int


@dataclass
class Assign:
    """``target = value`` (target None: ``return value``)."""

    target: str | None
    value: Py
    mark: Span | None = None
    named: bool = False  # a value that the source named (a store otherwise)


@dataclass
class Raw:
    """A line as it is (an ``if`` head, a ``raise``), with an indented body."""

    text: str
    body: list[Stmt] = field(default_factory=list)


@dataclass
class Def:
    """A local function."""

    name: str
    parameters: tuple[str, ...]
    body: list[Stmt]


@dataclass
class Do:
    """An expression for its effect."""

    value: Py


Stmt = Assign | Raw | Def | Do


@dataclass
class Block:
    """The statements of a function or of a fold's round."""

    fold: str
    index: str = ""
    index_text: str = ""
    axis: eq.Axis | None = None
    unrolled: bool = False
    moving: bool = False  # an unrolled loop that may be one of the device instead: its index starts slices, bounds none
    index_used: bool = False
    # what a round only reads at its own index: the names in the round and the arrays outside (None: no round of a scan)
    inputs: list[tuple[str, Py]] | None = None
    lines: list[Stmt] = field(default_factory=list)
    variables: dict[object, tuple[str, Frame]] = field(default_factory=dict)
    bound: set[eq.Version] = field(default_factory=set)


@dataclass(frozen=True)
class Pair:
    """A value as the one at place ``axis`` of ``value``, which is over one place more than the store."""

    value: eq.Expr
    own: eq.Axis  # of the store
    axis: eq.Axis
    first: bool  # at the place before the other
    negative: bool = False


@dataclass
class Row:
    """Three stores that fill a row: the first cell, those between, the last one."""

    size: Linear
    stores: tuple[eq.Write, ...]
    first: eq.Write
    inner: eq.Write
    last: eq.Write
    texts: dict[eq.Version, Py] = field(default_factory=dict)  # of the values, as they come


@dataclass
class Pieces:
    """Stores that fill an axis between them, by what they make, in the order of the parts."""

    axis: int
    order: tuple[eq.Version, ...]
    dtype: Py
    alike: bool  # whether all values are of one type
    texts: dict[eq.Version, Py] = field(default_factory=dict)  # of the values, as they come


@dataclass(frozen=True)
class Doubt:
    """An axis, of that extent, of an array at a place of which something is: see :mod:`kraise.emit.emptied`.

    ``rounds`` are those of the loops around, outermost first, 0 where it is not known how many there are.
    """

    extent: Linear
    rounds: tuple[Linear, ...]
    place: eq.Expr


def sizes_in(value: Linear) -> set[str]:
    """The parameters that a sum which is not negative takes for sizes: a caller may not give less than 0."""
    for atom, c in value.terms:
        if c == 1 and isinstance(atom, eq.Op) and atom.name == "max":  # k + max(0, -k) is so for any k
            either = [value.without(atom) + linear(a) for a in atom.args]
            return min((sizes_in(v) for v in either if nonnegative(v)), key=len, default=set())
    found: set[str] = set()
    stack = [a for a, _ in value.terms]
    while stack:
        match stack.pop():
            case eq.Param(name=name):
                found.add(name)
            case eq.Op(args=args):
                stack += args
            case eq.Cast(arg=arg):
                stack.append(arg)
    return found


def least(value: Linear, blocks: list[Block]) -> Linear:
    """The sum at the smallest values that the indices of Python loops around give it."""
    for atom, c in value.terms:
        axis = next(
            (b.axis for b in blocks if b.unrolled and isinstance(atom, eq.Index) and b.index == atom.name), None
        )
        if axis is not None:
            value = value.without(atom) + (linear(axis.lo) if c > 0 else linear(axis.hi) + -1).times(c)
    return value


def failing(test: str, said: str) -> Raw:
    """``if test: raise ValueError(said)``, laid out as within a function."""
    error = f"raise ValueError({py.quoted(said)})"
    if len(error) > WIDTH - 8:
        return Raw(f"if {test}:", [Raw("raise ValueError(", [Raw(py.quoted(said))]), Raw(")")])
    return Raw(f"if {test}:", [Raw(error)])
