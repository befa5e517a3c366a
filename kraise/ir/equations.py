"""Equations: what a kernel means, over named indices, with no order but that of array versions.

Nodes are interned (:mod:`kraise.ir.nodes`): a shared subexpression is shared in memory. Expressions are pure; *free*
indices are those no enclosing :class:`Reduce` or :class:`Scan` binds. An :class:`Axis` gives an index its range. The
bounds of an axis hold constants, parameters and shapes only (never another index, never array contents): the domain of
an equation is the box of its axes narrowed by a boolean ``where``, which may be affine (a triangle) or depend on data.
The arrays are in SSA form: every statement that writes array ``y`` makes a new :class:`Version` of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kraise.diagnostics import Span
from kraise.ir.activity import Activity, Memory
from kraise.ir.nodes import Node, node
from kraise.ir.types import ScalarType


@node
class Version(Node):
    """Array ``array`` after its ``number``-th write (0: what came in, undefined for a new array), in the body of the
    fold of that name ("": at the top)."""

    array: str
    number: int


@node
class Axis(Node):
    """Index ``name`` runs over lo, lo + step, … below hi; lo and hi are integer expressions over parameters, step > 0.

    Within a fold, lo and hi may not hold the fold's index. ``kind``: thread, block (hardware), loop or fold.
    """

    name: str
    lo: Expr
    hi: Expr
    step: int = 1


# --- expressions -----------------------------------------------------------------------------


@node
class Const(Node):
    value: bool | int | float | complex
    type: ScalarType
    name: str = ""  # of the module constant it comes from


@node
class Param(Node):
    """A scalar parameter of the kernel (``p.dt`` for a struct's member), or ``grid.x``, ``block.x`` … of the launch."""

    name: str
    type: ScalarType


@node
class Shape(Node):
    """``array.shape[axis]`` of the argument."""

    array: str
    axis: int
    type: ScalarType


@node
class Index(Node):
    """The value of an index (of an axis, a reduction, a scan or a fold)."""

    name: str
    type: ScalarType


@node
class Op(Node):
    """An operation of ``ir.operations`` on values; nothing is lazy any more: ``select`` evaluates both arms."""

    name: str
    args: tuple[Expr, ...]
    type: ScalarType


@node
class Cast(Node):
    type: ScalarType
    arg: Expr


@node
class Outside(Node):
    """What a load finds outside of ``0 <= subscript < limit``: ``before`` zeros and ``after`` behind the last, or as
    many of ``fill`` (``behind`` the last of another), of the element beside them ("edge"), or all anew ("wrap")."""

    before: Expr
    limit: Expr
    after: Expr
    fill: Expr | None = None
    behind: Expr | None = None
    edge: str = ""


@node
class Read(Node):
    """``version[subscripts]``.

    ``view`` is the shape under which a flat array is read (one expression an axis), or () for the array's own shape.
    ``safe`` says that the subscripts may leave the array in lanes whose value is not used: they must then be brought
    inside before the read (never left to JAX's clamping or wrap). Where the load finds zeros (the emitter's own):
    ``outside``, one for each axis or () (see :mod:`kraise.emit.loads.halo`), or the flat positions from ``limit`` on
    under a view of the launch's size (see :mod:`kraise.emit.loads.filled`).
    """

    version: Version
    subscripts: tuple[Expr, ...]
    type: ScalarType
    view: tuple[Expr, ...] = ()
    safe: bool = False
    outside: tuple[Outside | None, ...] = ()
    limit: Outside | None = None


@node
class Reduce(Node):
    """``op`` over all points of ``axes`` (where ``where`` holds) of ``body``; the neutral element if there are none.

    ``op`` is add, mul, min, max, and, or; of integers and_, or_, xor, too. min and max over an empty domain are
    +inf/-inf (the type's limits for integers).
    """

    op: str
    axes: tuple[Axis, ...]
    body: Expr
    where: Expr | None
    type: ScalarType


@node
class ArgReduce(Node):
    """The index value at which ``body`` is smallest (``op`` = "min") or largest over ``axis`` where ``where`` holds.

    Of equal ones the first, or the last if ``last``. Over an empty domain the axis's ``lo``. With ``op`` = "bisect" the
    body is ``f(k) < v`` or ``f(k) <= v``, f never decreases, and the value is the first k at which that does not hold,
    the axis's ``hi`` where it always does.
    """

    op: str
    axis: Axis
    body: Expr
    where: Expr | None
    last: bool
    type: ScalarType


@node
class Scan(Node):
    """A running value along ``axis``, whose index stays free: at index k, ``init`` combined with body(lo) … body(k).

    With ``inclusive`` False body(k) itself is left out. ``op``: add, mul, min, max, and, or — or ``linear``: then
    ``body`` is a, ``other`` is b and the value is v(k) = a(k) * v(k-1) + b(k), v before the first being ``init``. (Of
    ``sort`` it is the k-th of the body's values in order.)
    ``reverse``: the axis is run from its last to its first. Another operator's ``other`` says where it starts anew.
    """

    op: str
    axis: Axis
    body: Expr
    init: Expr
    inclusive: bool
    reverse: bool
    type: ScalarType
    other: Expr | None = None


@node
class CarryIn(Node):
    """In the body of fold ``fold``: the value of carried scalar ``name`` on entry to a round, by ``axes``."""

    fold: str
    name: str
    axes: tuple[Axis, ...]
    type: ScalarType


@node
class FoldResult(Node):
    """After fold ``fold``: the last value of carried scalar ``name``, a function of ``axes``."""

    fold: str
    name: str
    axes: tuple[Axis, ...]
    type: ScalarType


@node
class HelperCall(Node):
    """A scalar helper of the module applied lane by lane; its body is in ``Kernel.helpers``."""

    function: str
    args: tuple[Expr, ...]
    type: ScalarType


Expr = Const | Param | Shape | Index | Op | Cast | Read | Reduce | ArgReduce | Scan | CarryIn | FoldResult | HelperCall


# --- statements ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Write:
    """``after[subscripts] = value`` for all points of ``axes`` where ``where`` holds; every other cell is that of
    ``before``.

    ``accumulate`` "" is a plain store: its subscripts are injective over the domain (proved by the raiser), so there is
    no order. Otherwise it is add, mul, min, max, and, or, xor, and every point of the domain contributes ``cell = cell
    <op> value``, whatever the order; axes that no subscript names are reduced. ``covers``: every cell of the array is
    written, so ``before`` does not matter. ``safe``: subscripts may leave the array where ``where`` is false; such
    points write nothing.
    """

    before: Version
    after: Version
    axes: tuple[Axis, ...]
    subscripts: tuple[Expr, ...]
    value: Expr
    where: Expr | None = None
    accumulate: str = ""
    covers: bool = False
    view: tuple[Expr, ...] = ()
    safe: bool = False
    segments: bool = False  # ``before`` is neutral; the first subscript never decreases along the first axis, may leave
    span: Span | None = None


@dataclass(frozen=True)
class New:
    """A new array of the given shape (an extent below zero is none); ``fill`` None leaves it undefined (emitted as
    zeros). ``like`` names the array whose element type it takes where ``element`` is NUMBER.
    """

    version: Version
    element: ScalarType
    shape: tuple[Expr, ...]
    fill: Expr | None = None
    like: str = ""
    span: Span | None = None


@dataclass(frozen=True)
class ScalarCarry:
    """A scalar carried by a fold: ``init`` on entry, after a round ``update`` (over ``axes``, holding CarryIn)."""

    name: str
    axes: tuple[Axis, ...]
    init: Expr
    update: Expr
    type: ScalarType


@dataclass(frozen=True)
class ArrayCarry:
    """An array carried by a fold: ``outside`` before, ``entry``/``exit`` at a round's ends, ``result`` after it."""

    outside: Version
    entry: Version
    exit: Version
    result: Version


@dataclass(frozen=True)
class Output:
    """What a fold puts out in every round: ``value`` over ``axes`` and the fold's index, stacked along the rounds.

    After the fold it is ``FoldResult(fold, name, (*axes, fold axis), type)``, a function of the fold's index too.
    """

    name: str
    axes: tuple[Axis, ...]
    value: Expr
    type: ScalarType


@dataclass(frozen=True)
class Fold:
    """A loop that stays, over whole arrays.

    ``axis`` gives the index and its static range (run from last to first if ``reverse``), or is None for a while
    loop. With ``condition`` (over CarryIn and versions at entry, no free index) rounds are run while it holds.
    ``body`` are the writes of a round in order; ``mapped`` rounds carry nothing and are made in chunks.
    """

    name: str
    axis: Axis | None
    scalars: tuple[ScalarCarry, ...]
    arrays: tuple[ArrayCarry, ...]
    body: tuple[Stmt, ...]
    reverse: bool = False
    condition: Expr | None = None
    unroll: bool = False
    outputs: tuple[Output, ...] = ()
    mapped: bool = False
    span: Span | None = None


@dataclass(frozen=True)
class Check:
    """What must hold of data for the equations to mean what the source does (``--checked``): ``condition``, a boolean
    without free indices but those of the folds around, or that elements of ``distinct`` differ; else ``message``."""

    message: str
    condition: Expr | None = None
    distinct: Version | None = None
    span: Span | None = None


Stmt = Write | New | Fold | Check


# --- kernels ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Helper:
    """A scalar helper that stays a function: ``body`` over its parameters, one expression a returned value."""

    name: str
    params: tuple[Param, ...]
    body: tuple[Expr, ...]
    doc: str = ""
    span: Span | None = None


@dataclass(frozen=True)
class Name:
    """The source's name for a value that is worth a variable; ``span`` is its assignment."""

    expr: Expr
    name: str
    span: Span | None = None


@dataclass(frozen=True)
class Kernel:
    """One raised kernel.

    ``returns``: the last version of each written parameter in order, or what a plain function returned. ``launch``: ""
    if the result does not depend on it; "optional" (an unguarded kernel) or "required". ``ndrange``: what each Param
    ``threads.x`` (``.y``, ``.z``) is where no grid and block are given. ``assumptions``, ``notes``: sentences of the
    docstring, ``equations`` its mathematics; ``checks``: static conditions with their messages; ``choices``: forms."""

    name: str
    params: tuple[object, ...]  # kernel.Param of the source, in order
    body: tuple[Stmt, ...]
    returns: tuple[Version | Expr, ...]
    names: tuple[Name, ...] = ()
    helpers: tuple[Helper, ...] = ()
    launch: str = ""
    ndrange: tuple[tuple[str, Expr], ...] = ()
    doc: str = ""
    equations: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    checks: tuple[tuple[Expr, str], ...] = ()
    notes: tuple[str, ...] = field(default=())
    choices: tuple[str, ...] = ()
    derivatives: tuple[Activity, ...] = ()  # what the user asked to differentiate
    memory: Memory = Memory()
    covers: tuple[tuple[int, Expr], ...] = ()  # how many threads along an axis a launch is taken to have at least
    least: tuple[tuple[Param, Expr], ...] = ()  # the same of ``threads.x``, of ``grid.y`` and ``block.z`` alone
    tile: tuple[tuple[int, int], ...] = ()  # how many threads of a block along an axis the source counts on
    relied: tuple[str, ...] = ()  # what is taken for granted of data: what a --checked module checks, in words
    of_launch: tuple[tuple[Expr, str], ...] = ()  # the checks of a launch that the function does not take
    adds: tuple[str, ...] = ()  # whether more blocks ("grid") or threads of a "block" would add to a sum again
    alone: tuple[tuple[str, int], ...] = ()  # a launch has one block ("grid") or one thread of a block along these axes
    rounds: tuple[Axis, ...] = ()  # the parameters that count rounds of loops around the launches: indices in the body
    onto_itself: str = ""  # a host reads and writes one array by it: "joined", or "set" (raising/hosts/alike.py)
    rimmed: str = ""  # made for a host's loop: the array that it reads, and stores a box of (raising/hosts/plates.py)
    one_row: int = 0  # ``block.x`` is the number of a block's threads along so many axes
    one_line: tuple[tuple[str, int], ...] = ()  # ``threads.x`` is the product of these extents of the launch
    widens: bool = False  # integers of 8 and 16 bits are computed with in full width
    converts: tuple[tuple[str, ScalarType], ...] = ()  # arrays of which the function takes the elements as these
    must_be: tuple[tuple[str, str], ...] = ()  # what parameters must be: given, floats, like a, shaped as a, a number
    span: Span | None = None


@dataclass(frozen=True)
class Module:
    """The raised kernels of one source file, with what the emitted module needs around them."""

    file: str
    language: str
    kernels: tuple[Kernel, ...]
    constants: tuple[object, ...] = ()  # kernel.Constant
    comments: tuple[tuple[int, str], ...] = ()
    doc: str = ""
    hosts: tuple[Any, ...] = ()  # kraise.ir.hosted.Host, callees first
    checked: bool = False  # functions check what their arguments' contents must be
