"""Raised host functions: values instead of memory, variables that are bound again instead of pointers.

What :mod:`kraise.raising.hosts.function` makes of Host IR. Every name is a variable of the emitted function and holds
a value; an array that a launch writes is a new value under the name of its memory. Expressions are those of Host IR,
with variables for names: ``Var`` a scalar, ``Whole`` an array.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraise.diagnostics import Span
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.activity import Activity
from kraise.ir.types import ScalarType


@dataclass(frozen=True)
class Call:
    """A call of a function of the emitted module; ``grid`` and ``block`` where its result depends on them."""

    function: str
    args: tuple[h.Expr, ...]
    grid: tuple[k.Expr, ...] | None = None
    block: tuple[k.Expr, ...] | None = None
    shared: k.Expr | None = None
    groups: tuple[int, ...] = ()  # how many of the targets each result holds, where one is an array of structs
    fields: tuple[str, ...] = ()  # those of its only result that are taken, where that is a struct with static integers
    demands: tuple[tuple[k.Expr, str], ...] = ()  # what must hold of the launch, and the words of the error where not


@dataclass(frozen=True)
class New:
    """A new array of ``shape`` (None: that of ``like``), of ``element`` or (NUMBER) ``like``'s element type; one axis
    with these ``values``, where there are any."""

    element: ScalarType
    shape: tuple[k.Expr, ...] | None
    fill: k.Expr | None = None
    like: str = ""
    values: tuple[h.Expr, ...] = ()


@dataclass(frozen=True)
class Put:
    """``base`` with ``value`` at ``subscripts``, or at ``count`` elements from ``offset`` on (None: all from there)."""

    base: str
    value: h.Expr
    subscripts: tuple[k.Expr, ...] | None = None
    offset: k.Expr | None = None
    count: k.Expr | None = None
    clamps: bool = False  # at as many of them as there are


@dataclass(frozen=True)
class Cast:
    """The array ``value`` with another element type."""

    value: h.Expr
    element: ScalarType


@dataclass(frozen=True)
class Rotated:
    """One of ``variables``: the one at place ``rounds % len(variables)``.

    What memory holds after a loop that permutes its pointers in every round.
    """

    variables: tuple[str, ...]
    rounds: k.Expr


Value = h.Expr | Call | New | Put | Cast | Rotated


@dataclass(frozen=True)
class Let:
    """``targets = value``: one target, or one for each value that a call returns."""

    targets: tuple[str, ...]
    value: Value
    span: Span | None = None


@dataclass(frozen=True)
class Loop:
    """A loop over ``names``, which start as ``initial`` and are ``nexts`` at the end of a round.

    With ``var`` the rounds are ``range(start, stop, step)``; with ``condition`` (over ``names``, tested before a round)
    no further round runs once it is false. ``arrays`` says which names are arrays, ``unused`` which ones nothing reads
    after the loop.
    """

    names: tuple[str, ...]
    initial: tuple[h.Expr, ...]
    nexts: tuple[str, ...]
    arrays: tuple[bool, ...]
    body: tuple[Stmt, ...]
    var: str = ""
    start: k.Expr | None = None
    stop: k.Expr | None = None
    step: k.Expr | None = None
    condition: h.Expr | None = None
    unused: frozenset[str] = frozenset()
    span: Span | None = None


@dataclass(frozen=True)
class Branch:
    """``names`` become ``values`` after ``body`` where the condition holds, else ``others`` after ``orelse``."""

    condition: h.Expr
    names: tuple[str, ...]
    body: tuple[Stmt, ...]
    values: tuple[h.Expr, ...]
    orelse: tuple[Stmt, ...]
    others: tuple[h.Expr, ...]
    arrays: tuple[bool, ...] = ()
    span: Span | None = None


Stmt = Let | Loop | Branch


@dataclass(frozen=True)
class Host:
    """One raised host function.

    ``returns`` are its results in order; ``memory`` names for each the parameter whose memory it is ("" for none).
    ``written`` are the parameters whose memory changes; ``remat`` says what its loops keep for the gradient
    (see :class:`kraise.ir.activity.Memory`). ``ordered`` are pairs of numbers of which the first is not the larger one,
    or what the function returns is another array.
    """

    name: str
    params: tuple[k.Param, ...]
    body: tuple[Stmt, ...]
    returns: tuple[h.Expr | Rotated, ...]
    memory: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    doc: str = ""
    notes: tuple[str, ...] = ()
    dropped: tuple[h.Dropped, ...] = ()
    state: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    ordered: tuple[tuple[k.Expr, k.Expr], ...] = ()
    remat: str = "auto"
    derivatives: tuple[Activity, ...] = ()  # what the user asked to differentiate
    span: Span | None = None
