"""The state of a symbolic run of one kernel: all threads and all rounds of a free loop at once.

What a statement does is recorded as :class:`Raw` writes, folds and new arrays with the *path* (conjuncts) under which
it happens; boxes are made from paths at the end (:mod:`kraise.raising.writes.finish`). A state is copied before a loop
is tried in a form, so a trial that fails leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from kraise.analysis.dependence import Access
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.types import INT, ScalarType

ROWS = eq.Param("$rows", INT)  # the first extent of a view: as many rows as there are


@dataclass(frozen=True)
class RawWrite:
    """A write before its domain is a box: ``loops`` are the open indices, ``path`` the conjuncts that hold."""

    before: eq.Version
    after: eq.Version
    loops: tuple[str, ...]
    path: tuple[eq.Expr, ...]
    subscripts: tuple[eq.Expr, ...]
    value: eq.Expr
    accumulate: str = ""
    view: tuple[eq.Expr, ...] = ()
    span: Span | None = None


@dataclass(frozen=True)
class RawNew:
    stmt: eq.New


@dataclass(frozen=True)
class RawFold:
    """A fold whose body is still raw; ``fold.body`` is empty."""

    fold: eq.Fold
    body: tuple[Raw, ...]


Raw = RawWrite | RawNew | RawFold


@dataclass(frozen=True)
class LocalArray:
    """An array made by the kernel: the indices open where it was made are its leading axes (each thread has its
    own)."""

    name: str
    prefix: tuple[str, ...]
    shape: tuple[eq.Expr, ...]
    type: ScalarType
    like: str = ""
    shared: bool = False
    private: bool = False  # shared or a thread's own: not an array that a plain function returns
    extents: tuple[eq.Expr, ...] = ()  # of the prefix, once they are known


# the cells of the rounds before that a loop carries in locals, by array
Slides = dict[str, tuple[tuple[tuple[eq.Expr, ...], str], ...]]


@dataclass
class State:
    """Everything that a statement may change.

    ``partial`` gives for a local that only some paths have set the condition under which it has a value; ``fences``
    from which write on a store to an array may be forwarded to a load; ``cells`` the arrays whose one accessed cell is
    kept in a local.
    """

    env: dict[str, eq.Expr] = field(default_factory=dict)
    versions: dict[str, eq.Version] = field(default_factory=dict)
    unseen: dict[eq.Version, eq.Version] = field(default_factory=dict)  # by the arm under way, and what it sees
    path: tuple[eq.Expr, ...] = ()
    facts: tuple[eq.Expr, ...] = ()  # what the launch implies of the indices: good for proofs, no part of a domain
    open: tuple[str, ...] = ()
    folds: tuple[str, ...] = ()
    out: list[Raw] = field(default_factory=list)
    accesses: list[Access] = field(default_factory=list)
    names: dict[eq.Expr, eq.Name] = field(default_factory=dict)
    cells: dict[str, tuple[tuple[eq.Expr, ...], str]] = field(default_factory=dict)
    partial: dict[str, eq.Expr] = field(default_factory=dict)
    slides: Slides = field(default_factory=dict)
    rungs: dict[tuple[int, str], str] = field(default_factory=dict)
    fences: dict[str, int] = field(default_factory=dict)
    before: list[Raw] = field(default_factory=list)  # the writes before the fold under way (places count from there)
    walls: dict[str, int] = field(default_factory=dict)  # the fences, as places
    entered: dict[str, int] = field(default_factory=dict)  # the place at which a loop was entered
    passed: tuple[tuple[str, int, int, int], ...] = (
        ("", 0, 0, 0),
    )  # the barriers passed, in each round that is under way
    locals: dict[str, LocalArray] = field(default_factory=dict)
    arrays: dict[str, str] = field(default_factory=dict)
    order: int = 0

    def copy(self) -> State:
        return replace(
            self,
            env=dict(self.env),
            versions=dict(self.versions),
            out=list(self.out),
            accesses=list(self.accesses),
            names=dict(self.names),
            cells=dict(self.cells),
            fences=dict(self.fences),
            entered=dict(self.entered),
            walls=dict(self.walls),
            slides=dict(self.slides),
            rungs=dict(self.rungs),
            partial=dict(self.partial),
            locals=dict(self.locals),
            arrays=dict(self.arrays),
        )

    def rung(self, span: Span | None, loop: str, text: str) -> None:
        """Remembers for ``explain`` how far up the ladder (contract, section 4) a loop came, and why not further."""
        self.rungs[span.line if span else 0, loop] = text

    def become(self, other: State) -> None:
        """Takes over what ``other`` (a copy of this state that went on) holds."""
        self.__dict__.update(other.__dict__)


def map_raw(raw: Raw, fn: Callable[[eq.Expr], eq.Expr]) -> Raw:
    """``raw`` with ``fn`` applied to every expression in it."""
    from kraise.ir.walk import map_statement

    match raw:
        case RawWrite():
            return replace(
                raw,
                path=map_path(raw.path, fn),
                subscripts=tuple(map(fn, raw.subscripts)),
                value=fn(raw.value),
                view=tuple(map(fn, raw.view)),
            )
        case RawNew(stmt):
            return RawNew(map_statement(stmt, fn))  # type: ignore[arg-type]
        case RawFold(fold, body):
            return RawFold(map_statement(fold, fn), tuple(map_raw(r, fn) for r in body))  # type: ignore[arg-type]


def map_path(path: tuple[eq.Expr, ...], fn: Callable[[eq.Expr], eq.Expr]) -> tuple[eq.Expr, ...]:
    from kraise.analysis.conditions import conjuncts

    return tuple(dict.fromkeys(c for p in path for c in conjuncts(fn(p))))


def map_access(access: Access, fn: Callable[[eq.Expr], eq.Expr]) -> Access:
    return replace(
        access,
        subscripts=tuple(map(fn, access.subscripts)),
        whole=tuple(map(fn, access.whole)),
        path=map_path(access.path, fn),
        value=None if access.value is None else fn(access.value),
    )


def flat(raws: Iterable[Raw]) -> list[Raw]:
    """Writes, folds and new arrays, those in the bodies of folds behind their fold."""
    return [x for r in raws for x in ((r, *flat(r.body)) if isinstance(r, RawFold) else (r,))]


def expressions(r: Raw) -> list[eq.Expr]:
    from kraise.ir.walk import statement_expressions

    match r:
        case RawWrite():
            return [*r.path, *r.subscripts, r.value, *r.view]
        case RawNew(stmt):
            return list(statement_expressions(stmt))
        case RawFold(fold, body):
            return [*statement_expressions(fold), *(e for b in body for e in expressions(b))]
