"""Host IR: what a host function that launches kernels says, whichever language it came in.

A host function moves names over memory: it makes arrays, copies them, passes them to launches, swaps pointers, loops
until time or convergence ends, and returns. The form keeps exactly that. A *name* (``d_u``) points into a piece of
memory; several names may point into one, and :class:`Point` changes where they point without touching memory, so that
``std::swap(u, v)`` and ``u, v = v, u`` are one node. :class:`Bind` makes new memory with the value of an expression,
:class:`Update` changes memory in place, :class:`Launch` runs a kernel on memory. What has no part in the values
(timing, printing, streams, error checks, ``cudaFree``) is not in the body: ``dropped`` lists it with its place.

Scalar expressions are those of Kernel IR. Two nodes more: :class:`Whole` is an array as a value, so that ``r = b - q``
is an ``Op`` over two of them, and :class:`Library` is a call of a row of grammar/host_library.toml (``cublasSdot``,
``thrust::reduce``, ``np.linalg.norm``), scalar or array by the row. An expression has no effects.

The meaning is that of :mod:`kraise.verify.hosts`, which executes these statements one by one on memory.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from kraise.diagnostics import Span
from kraise.ir import kernel as k
from kraise.ir.types import ScalarType, StructType


def _span() -> Span | None:
    return field(default=None, compare=False, repr=False, kw_only=True)  # type: ignore[return-value]


SAME = "same_memory"  # the row of a comparison of two pointers: whether they point to one place
PUT = "put"  # the row of an array some elements of which are others: it keeps that array's element type

# --- expressions beyond those of Kernel IR ---------------------------------------------------


@dataclass(frozen=True)
class Whole:
    """The array that ``array`` points to as a value; ``count`` elements from ``offset`` on (None: all from there), or
    with ``clamps`` as many of them as there are."""

    array: str
    offset: k.Expr | None = None
    count: k.Expr | None = None
    clamps: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Library:
    """A library call: ``name`` is a row of grammar/host_library.toml, ``type`` its result's element type.

    ``array`` says whether the result is an array (else a scalar). ``jnp`` is its spelling over the operands ``{0}``
    ``{1}`` ``{2}`` and ``derivative`` the rule of its derivative, both as the row has them; ``static`` says that the
    result is known when the function is traced, ``shapes`` which operands must be, and ``numpy`` is the spelling for
    the interpreter where it is another one.
    """

    name: str
    args: tuple[Expr, ...]
    type: ScalarType
    array: bool = False
    jnp: str = ""
    derivative: str = "none"
    static: bool = False
    shapes: tuple[int, ...] = ()
    numpy: str = ""
    span: Span | None = _span()


@dataclass(frozen=True)
class Record:
    """A struct by value, as an argument of a launch: its members in their order."""

    struct: StructType
    members: tuple[Expr, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Structs:
    """An array of structs, or a struct with arrays, as an argument of a launch: its members in their order."""

    struct: StructType
    members: tuple[k.ArrayRef | Whole | k.Expr, ...]
    span: Span | None = _span()


Expr = k.Expr | Whole | Library | Record | Structs


@dataclass(frozen=True)
class Chosen:
    """One of the arrays ``names``, by a number (``d_u[cur]``); only a :class:`Point` has it among its sources."""

    names: tuple[str, ...]
    index: k.Expr
    span: Span | None = _span()


# --- statements ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assign:
    """``name = value`` for a scalar."""

    name: str
    value: Expr
    type: ScalarType
    span: Span | None = _span()


@dataclass(frozen=True)
class Alloc:
    """``name`` points to new memory of ``shape``, filled with ``fill`` (None: its contents are undefined).

    ``like`` is an array whose shape (where ``shape`` is None) and element type (where ``element`` is NUMBER) it takes.
    """

    name: str
    element: ScalarType
    shape: tuple[k.Expr, ...] | None
    fill: k.Expr | None = None
    like: str = ""
    span: Span | None = _span()


@dataclass(frozen=True)
class Bind:
    """``name`` points to new memory that holds the array ``value`` (``cuda.to_device``, ``copy_to_host()``, ``a + b``).

    With ``element`` the value is converted to it. With ``view`` the name sees the memory of the array in ``value``, in
    the source: the two must not come apart (:mod:`kraise.ir.host_sharing`).
    """

    name: str
    value: Expr
    element: ScalarType | None = None
    view: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class Update:
    """The memory that ``array`` points to changes: ``count`` elements from ``offset`` on (None: all) become ``value``.

    ``value`` is an array of as many elements, or a scalar for each of them (``cudaMemcpy``, ``x[:] = 0``).
    """

    array: str
    value: Expr
    offset: k.Expr | None = None
    count: k.Expr | None = None
    clamps: bool = False  # to as many of them as there are
    span: Span | None = _span()


@dataclass(frozen=True)
class Store:
    """``array[subscripts] = value``: one element, written by the host."""

    array: str
    subscripts: tuple[k.Expr, ...]
    value: Expr
    span: Span | None = _span()


@dataclass(frozen=True)
class Point:
    """All ``names`` at once point to where the ``sources`` point: alias, swap, rotation, pointer arithmetic, choice."""

    names: tuple[str, ...]
    sources: tuple[k.ArrayRef | Chosen, ...]
    span: Span | None = _span()


@dataclass(frozen=True)
class Launch:
    """``function<<<grid, block, shared>>>(args)``; a plain function of the module is called with ``grid`` None.

    ``grid`` and ``block`` have one to three extents in x, y, z order; ``shared`` are the bytes of dynamic shared
    memory. ``results`` are the scalars (of ``types``) that take what a plain function returns.
    """

    function: str
    args: tuple[Expr | k.ArrayRef, ...]
    grid: tuple[k.Expr, ...] | None = None
    block: tuple[k.Expr, ...] | None = None
    shared: k.Expr | None = None
    results: tuple[str, ...] = ()
    types: tuple[ScalarType, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class CallHost:
    """A call of another host function of the module.

    ``results`` are the names that take what it returns, ``arrays`` which of them are arrays.
    """

    function: str
    args: tuple[Expr | k.ArrayRef, ...]
    results: tuple[str, ...] = ()
    arrays: tuple[bool, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class For:
    """``for var in range(start, stop, step)``; no further round once ``condition``, tested before it, is false."""

    var: str
    start: k.Expr
    stop: k.Expr
    step: k.Expr
    body: tuple[Stmt, ...]
    condition: Expr | None = None
    span: Span | None = _span()


@dataclass(frozen=True)
class While:
    """``while condition: body``; with ``test_last`` C's ``do … while``."""

    condition: Expr
    body: tuple[Stmt, ...]
    test_last: bool = False
    span: Span | None = _span()


@dataclass(frozen=True)
class If:
    condition: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    span: Span | None = _span()


@dataclass(frozen=True)
class Break:
    """Ends the innermost loop."""

    span: Span | None = _span()


@dataclass(frozen=True)
class Return:
    """Ends the function with these values."""

    values: tuple[Expr | k.ArrayRef, ...] = ()
    span: Span | None = _span()


Stmt = Assign | Alloc | Bind | Update | Store | Point | Launch | CallHost | For | While | If | Break | Return

# --- functions -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dropped:
    """A statement without a part in the values; ``what`` says what it is (timing, printing, …)."""

    text: str
    what: str
    span: Span | None = None


@dataclass(frozen=True)
class Host:
    """A host function. ``state`` are the attributes that it returns where it is the ``__init__`` of a class. ``rows``
    are the inner extents of its parameters that are arrays of arrays: their memory is flat in the body. ``in_place``:
    what it changes of its parameters' memory is a result beside any array that it returns (C's functions).
    ``attributes`` are the parameters that are attributes of the class ``owner``. ``ordered`` are pairs of numbers of
    which the first must not be the larger one."""

    name: str
    params: tuple[k.Param, ...]
    body: tuple[Stmt, ...]
    doc: str = ""
    dropped: tuple[Dropped, ...] = ()
    state: tuple[str, ...] = ()
    span: Span | None = None
    kind: str = "host"
    rows: tuple[tuple[str, tuple[k.Expr, ...]], ...] = ()
    in_place: bool = False
    owner: str = ""
    attributes: tuple[str, ...] = ()
    ordered: tuple[tuple[k.Expr, k.Expr], ...] = ()


def children(stmt: Stmt) -> tuple[tuple[Stmt, ...], ...]:
    """The blocks of a statement."""
    match stmt:
        case For(body=body) | While(body=body):
            return (body,)
        case If(body=body, orelse=orelse):
            return body, orelse
    return ()


def arrays_in(argument: Expr | k.ArrayRef) -> tuple[str, ...]:
    """The arrays that an argument of a call hands over: itself, or those of a struct."""
    if isinstance(argument, k.ArrayRef):
        return (argument.array,)
    members = argument.members if isinstance(argument, Structs) else ()
    return tuple(m.array for m in members if isinstance(m, k.ArrayRef))


def launched_by(host: Host) -> set[str]:
    """The kernels and plain functions that a host function calls itself."""
    found: set[str] = set()
    stack = list(host.body)
    while stack:
        stmt = stack.pop()
        if isinstance(stmt, Launch):
            found.add(stmt.function)
        stack.extend(s for block in children(stmt) for s in block)
    return found


def returned(body: tuple[Stmt, ...]) -> tuple[Expr | k.ArrayRef, ...]:
    """What the first return of a body gives; all of them give the same kinds of values."""
    for stmt in body:
        if isinstance(stmt, Return):
            return stmt.values
        for block in children(stmt):
            if found := returned(block):
                return found
    return ()


def returns_arrays(host: Host) -> bool:
    """Does the function return an array?"""
    return any(isinstance(v, k.ArrayRef) for v in returned(host.body))


def gives_back(host: Host) -> bool:
    """Are its parameters' arrays, where it changes them, results? In Python a function that returns an array returns
    that, and its parameters' memory is its own affair."""
    return host.in_place or not returns_arrays(host)
