"""Kernel IR: what the source says, scalar and typed, whichever language it came in.

Expressions have no side effects (front ends take ``x++`` and nested assignments apart). ``and``, ``or`` and
``select`` are lazy, as in the source: an operand that is not reached is not evaluated. An array is named by a
dotted path: the parameter ``a`` itself, or ``p.vel`` for member ``vel`` of the struct parameter ``p`` (one of an
array of structs likewise: ``p[i].vel`` is ``Load("p.vel", (i,))``); ``a[i].y`` of a ``float3 *a`` is
``Load("a", (i, 1))``.

Every statement and expression carries the span of its source. Spans take no part in comparison.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kraise.diagnostics import Span
from kraise.ir.activity import Activity
from kraise.ir.types import INT32, ScalarType, Type


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False, kw_only=True)  # type: ignore[return-value]


# --- expressions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Const:
    """A literal, or the value of the module constant ``name`` (a macro, a constexpr, ``TILE = 16``)."""

    value: bool | int | float | complex
    type: ScalarType
    name: str = ""
    span: Span | None = _span()


@dataclass(frozen=True)
class Var:
    """A local scalar, a loop variable or a scalar parameter (``p.dt`` for a struct's member)."""

    name: str
    type: ScalarType
    span: Span | None = _span()


@dataclass(frozen=True)
class Hw:
    """A hardware index: ``kind`` is thread, block (indices) or blockDim, gridDim (extents); axis 0, 1, 2 is x, y, z.

    ``cuda.grid(1)`` is ``block * blockDim + thread``, ``cuda.gridsize(1)`` is ``blockDim * gridDim``: no node of
    their own.
    """

    kind: str
    axis: int
    type: ScalarType = INT32
    span: Span | None = _span()


@dataclass(frozen=True)
class Op:
    """An operation of the table ``ir.operations``; ``type`` is the type of its result."""

    name: str
    args: tuple[Expr, ...]
    type: ScalarType
    span: Span | None = _span()


@dataclass(frozen=True)
class Cast:
    """A conversion with the meaning of C's (float to int truncates; to a narrower integer wraps)."""

    type: ScalarType
    arg: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Load:
    """``array[subscripts]``, as many subscripts as the array has axes."""

    array: str
    subscripts: tuple[Expr, ...]
    type: ScalarType
    span: Span | None = _span()


@dataclass(frozen=True)
class Shape:
    """``array.shape[axis]``; ``len(a)`` is axis 0, ``a.size`` the product over the axes."""

    array: str
    axis: int
    type: ScalarType = INT32
    span: Span | None = _span()


@dataclass(frozen=True)
class ArrayRef:
    """An array (or, with ``offset``, a pointer into a flat one) as the argument of a call; it has no value of its
    own. With ``rows`` the callee sees flat memory of the host as rows of these extents."""

    array: str
    offset: Expr | None = None
    rows: tuple[Expr, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class Call:
    """A call of a function of the module that returns a scalar and stores nothing."""

    function: str
    args: tuple[Expr | ArrayRef, ...]
    type: ScalarType
    span: Span | None = _span()


@dataclass(frozen=True)
class Warp:
    """A warp primitive over the lanes of a warp of 32: shfl, shfl_up, shfl_down, shfl_xor, ballot, any, all,
    activemask, sum, ….

    ``args`` are the value and, for shuffles, the lane, delta or lane mask; ``width`` the segment's width.
    """

    name: str
    args: tuple[Expr, ...]
    type: ScalarType
    width: int = 32
    span: Span | None = _span()


Expr = Const | Var | Hw | Op | Cast | Load | Shape | Call | Warp


# --- statements ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    """``name = value`` for a local scalar (declared by its first assignment); ``type`` is the variable's."""

    name: str
    value: Expr
    type: ScalarType
    span: Span | None = _span()


@dataclass(frozen=True)
class Store:
    """``array[subscripts] = value``; an augmented assignment reads the cell in ``value``."""

    array: str
    subscripts: tuple[Expr, ...]
    value: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Atomic:
    """An atomic read-modify-write: add, sub, mul, min, max, and, or, xor, inc, dec, exch, cas (``values`` then compare,
    value); min_bits and max_bits compare floats by their bits as signed integers.

    ``result`` is the local scalar that takes the old value, or "". ``fenced``: what its thread stored before is seen by
    whoever sees this (``__threadfence``).
    """

    name: str
    array: str
    subscripts: tuple[Expr, ...]
    values: tuple[Expr, ...]
    type: ScalarType
    result: str = ""
    fenced: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class If:
    condition: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class For:
    """``for var in range(start, stop, step)``: start, stop and step are evaluated once; ``var`` keeps its last value.

    ``parallel`` is the source's own claim (``prange``, OpenMP). ``orelse`` is Python's ``for … else``.
    """

    var: str
    start: Expr
    stop: Expr
    step: Expr
    body: tuple[Stmt, ...]
    parallel: bool = False
    type: ScalarType = INT32
    orelse: tuple[Stmt, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class While:
    """``while condition: body``; with ``test_last`` it is C's ``do … while``. ``orelse`` is Python's ``while …
    else``."""

    condition: Expr
    body: tuple[Stmt, ...]
    test_last: bool = False
    orelse: tuple[Stmt, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class Break:
    span: Span | None = _span()


@dataclass(frozen=True)
class Continue:
    span: Span | None = _span()


@dataclass(frozen=True)
class Return:
    """Ends the function. ``values``: nothing in a kernel; scalars of a helper; arrays and scalars of a plain
    function."""

    values: tuple[Expr | ArrayRef, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class Barrier:
    """``scope`` is block (``__syncthreads``), warp (``__syncwarp``) or grid."""

    scope: str = "block"
    span: Span | None = _span()


@dataclass(frozen=True)
class LocalArray:
    """A new array: ``space`` is shared (one a block), local (one a thread) or heap (``np.zeros`` in a plain function).

    ``fill`` None means that the contents are undefined. ``values`` are an initializer's, row by row, the rest zero.
    ``like`` names the array whose element type is taken where ``element`` is NUMBER. With space shared
    ``dynamic`` is ``extern __shared__``: a first axis (not in ``shape``) whose extent is the launch's.
    """

    name: str
    element: ScalarType
    shape: tuple[Expr, ...]
    space: str
    fill: Expr | None = None
    values: tuple[Expr, ...] = ()
    like: str = ""
    dynamic: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class CallStmt:
    """A call of a function of the module for its effects; ``results`` are the local scalars that take what it
    returns."""

    function: str
    args: tuple[Expr | ArrayRef, ...]
    results: tuple[str, ...] = ()
    types: tuple[ScalarType, ...] = ()
    span: Span | None = _span()


Stmt = Assign | Store | Atomic | If | For | While | Break | Continue | Return | Barrier | LocalArray | CallStmt


# --- functions and modules -------------------------------------------------------------------


@dataclass(frozen=True)
class Param:
    """A parameter. An array parameter of a Python kernel has element NUMBER unless annotated."""

    name: str
    type: Type
    default: Const | None = None
    by_reference: bool = False  # C++ `T &x` or an out-pointer to one scalar, for a scalar type
    keyword: bool = False  # given by name only: a template's integer, which stands in no list of parameters
    span: Span | None = _span()


@dataclass(frozen=True)
class Function:
    """A function of the source: ``kind`` is kernel (run by a grid of threads), device (called only) or plain (one
    thread)."""

    name: str
    kind: str
    params: tuple[Param, ...]
    body: tuple[Stmt, ...]
    doc: str = ""
    returns: tuple[ScalarType | None, ...] = ()  # one per returned value, None for an array
    static: tuple[str, ...] = ()  # parameters that the source fixes at compile time (template integers)
    launch_bounds: tuple[int, ...] = ()
    multiples: tuple[tuple[str, int], ...] = ()  # parameters that must be multiples of a number
    one_row: int = 0  # of a block with so many axes threadIdx.x is the number of a thread, blockDim.x of how many
    # of a launch of any shape blockIdx.x * blockDim.x + threadIdx.x is the number of a thread, and the product of these
    # extents is how many there are
    one_line: tuple[tuple[str, int], ...] = ()
    widens: bool = False  # it computes with integers of 8 and 16 bits in full width, as numba does
    must_be: tuple[tuple[str, str], ...] = ()  # what parameters must be: given, floats, like a, shaped as a, a number
    span: Span | None = _span()


@dataclass(frozen=True)
class Constant:
    """A constant of the module, scalar (one value) or a table (``values`` row by row for ``shape``)."""

    name: str
    type: ScalarType
    values: tuple[bool | int | float | complex, ...]
    shape: tuple[int, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class Module:
    """One source file. ``comments`` maps a source line to the comment that stands on it (text without the marker)."""

    file: str
    language: str  # "python" or "cuda_c"
    functions: tuple[Function, ...]
    constants: tuple[Constant, ...] = ()
    structs: tuple[object, ...] = ()
    doc: str = ""
    comments: tuple[tuple[int, str], ...] = ()
    hosts: tuple[Any, ...] = ()  # kraise.ir.host.Host
    activities: tuple[Activity, ...] = ()  # what the source itself differentiates
    blocks: tuple[tuple[str, tuple[int | None, ...]], ...] = ()  # threads of a block at launches by name: a hint

    def function(self, name: str) -> Function:
        """The function (or host function) called ``name``; KeyError if there is none."""
        for f in (*self.functions, *self.hosts):
            if f.name == name:
                return f
        raise KeyError(name)
