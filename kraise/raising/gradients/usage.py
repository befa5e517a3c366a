"""Which lanes use a value: the demand of every node of a kernel (see :mod:`kraise.raising.gradients.demand`).

Conditions and integers use the plain value, whatever masks are put around it for the sake of derivatives. What they ask
of a *carried* value counts nevertheless: a carry holds one value, the one that its masked update made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from kraise.ir.equations import (
    Axis,
    CarryIn,
    Cast,
    Expr,
    Fold,
    FoldResult,
    HelperCall,
    Index,
    Kernel,
    New,
    Op,
    Read,
    Reduce,
    Scan,
    Stmt,
    Version,
    Write,
)
from kraise.ir.types import ScalarType
from kraise.ir.walk import axes_of, children, free_indices, statement_expressions, statements, topological
from kraise.raising.gradients.conditions import ALWAYS, NEVER, Conditions, Demand
from kraise.raising.gradients.needs import Uses, asked

Env = dict[str, Axis | None]  # index → axis; None where two uses disagree


_NOWHERE: Env = {}


def _is_state(node: Expr) -> bool:
    return isinstance(node, FoldResult | CarryIn)


def _env(axes: tuple[Axis, ...]) -> Env:
    return {a.name: a for a in axes}


def carries_derivative(type: ScalarType) -> bool:
    """Whether a value of the type may have a derivative (a type not known before the call may)."""
    return type.is_inexact or type.kind == "number"


def value_children(node: Expr) -> tuple[Expr, ...]:
    """The children through which a derivative flows."""
    if not carries_derivative(node.type):
        return ()
    match node:
        case Op(name="select", args=(_, a, b)):
            below: tuple[Expr, ...] = (a, b)
        case Op(args=args) | HelperCall(args=args):
            below = args
        case Cast(arg=arg):
            below = (arg,)
        case Reduce(body=body):
            below = (body,)
        case Scan(body=body, init=init, other=other):
            below = (body, init) if other is None else (body, init, other)
        case _:
            return ()
    return tuple(b for b in below if carries_derivative(b.type))


# --- sites -----------------------------------------------------------------------------------

Site = tuple[object, ...]  # where expressions share a demand: a write, the updates of a fold, …


@dataclass
class Unit:
    """Expressions that are computed at one place: with the demand of each node below them."""

    position: int
    scope: Site
    roots: list[Expr] = field(default_factory=list)
    others: Uses = field(default_factory=list)  # expressions without a derivative, with the demand of their value
    demands: dict[Expr, Demand] = field(default_factory=dict)
    axes: dict[Expr, Env] = field(default_factory=dict)
    done: dict[Expr, Expr] = field(default_factory=dict)
    masked: set[Expr] = field(default_factory=set)  # what is something else where no lane uses it

    def order(self) -> list[Expr]:
        """The values below the roots, operands first."""
        return topological(self.roots, value_children)

    def needs(self, conditions: Conditions, wanted: Callable[[Expr], bool]) -> dict[Expr, Demand]:
        """When the wanted nodes are needed by conditions, subscripts and integers."""
        uses = list(self.others)
        for node in self.order():
            flows = value_children(node)
            uses += [(c, self.demands[node]) for c in children(node) if c not in flows]
        return asked(conditions, uses, wanted)

    def demand(self, conditions: Conditions, node: Expr, demand: Demand, axes: Env) -> None:
        """One more use of a node."""
        self.demands[node] = conditions.either(self.demands.get(node, NEVER), demand)
        known = self.axes.setdefault(node, {})
        for name, axis in axes.items():
            known[name] = axis if known.get(name, axis) is axis else None


class Usage:
    """The demands of all values of a kernel, and the kernel rewritten by them."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        folds = (s for s in statements(kernel.body) if isinstance(s, Fold))
        self.conditions = Conditions(s.axis for s in folds if s.axis is not None)
        self.units: dict[Site, Unit] = {}
        self.results: dict[tuple[str, str], Demand] = {}  # of what a fold leaves
        self.entered: dict[tuple[str, str], Demand] = {}  # of what a fold carries, the same in every round
        self.carried: dict[tuple[str, str], Demand] = {}  # of what a round is entered with
        self.carries: dict[tuple[str, str], tuple[Axis, ...]] = {}
        self.positions: dict[Site, int] = {}
        self.known: dict[object, int] = {}  # version, fold result or carry → position from which it can be seen
        self.available: dict[Expr, int] = {}
        self.ambient: dict[Site, frozenset[str]] = {(): frozenset()}
        self.steps: dict[str, int] = {}
        self._number(kernel.body, ())
        self.positions[("return",)] = self._tick()
        self._values(("return",), [(r, ALWAYS, _NOWHERE) for r in kernel.returns if not isinstance(r, Version)], (), [])
        self._statements(kernel.body, ())
        self._merge()

    # --- when what can be seen ---------------------------------------------------------------

    def _tick(self) -> int:
        return len(self.positions) + 1

    def _number(self, body: tuple[Stmt, ...], scope: Site) -> None:
        for k, stmt in enumerate(body):
            path = (*scope, k)
            self.positions[path] = self._tick()
            match stmt:
                case Write(after=after):
                    self.known[after] = self.positions[path]
                case New(version=version):
                    self.known[version] = self.positions[path]
                case Fold():
                    start = self.positions[(*path, "init")] = self.positions[path]
                    inside = self.ambient[scope] | ({stmt.axis.name} if stmt.axis else frozenset())
                    self.ambient[path] = inside
                    if stmt.axis is not None:
                        self.steps[stmt.axis.name] = start
                    for a in stmt.arrays:
                        self.known[a.entry] = start
                    for s in stmt.scalars:
                        self.carries[stmt.name, s.name] = s.axes
                        self.known["in", stmt.name, s.name] = start
                    self._number(stmt.body, path)
                    end = self.positions[(*path, "update")] = self._tick()
                    for a in stmt.arrays:
                        self.known[a.result] = end
                    for name in (*(s.name for s in stmt.scalars), *(o.name for o in stmt.outputs)):
                        self.known["out", stmt.name, name] = end

    def _seen_from(self, literal: int) -> int:
        """The last position at which something that the literal reads comes into being."""
        root = self.conditions.shown(literal)
        for node in topological((root,), lambda n: () if n in self.available else children(n)):
            if node in self.available:
                continue
            own = 0
            match node:
                case Read(version=version):
                    own = self.known.get(version, 0)
                case CarryIn(fold=fold, name=name):
                    own = self.known.get(("in", fold, name), 0)
                case FoldResult(fold=fold, name=name):
                    own = self.known.get(("out", fold, name), 0)
                case Index(name=name):
                    own = self.steps.get(name, 0)
            self.available[node] = max([own, *(self.available[c] for c in children(node))])
        return self.available[root]

    def before(self, demand: Demand, position: int) -> Demand:
        """What of the demand can be seen before a position."""
        return self.conditions.weaken(demand, lambda lit: self._seen_from(lit) < position)

    # --- demands -----------------------------------------------------------------------------

    def _statements(self, body: tuple[Stmt, ...], scope: Site) -> None:
        for k in reversed(range(len(body))):
            stmt, path = body[k], (*scope, k)
            match stmt:
                case Write(axes=axes, value=value, where=where):
                    rest = [e for e in statement_expressions(stmt) if e is not value]
                    self._values(path, [(value, self.conditions.narrow(ALWAYS, where), _env(axes))], scope, rest)
                case New(fill=fill):
                    roots = [] if fill is None else [(fill, ALWAYS, _NOWHERE)]
                    self._values(path, roots, scope, list(stmt.shape))
                case Fold():
                    self._fold(stmt, path, scope)

    def _fold(self, fold: Fold, path: Site, scope: Site) -> None:
        """Demands in a fold: of a carried scalar, what is the same in every round; grown until a round asks no more."""
        start = self.positions[path]
        names = [s.name for s in fold.scalars]
        demand = {n: self.before(self.results.get((fold.name, n), NEVER), start) for n in names}
        own = {e for s in fold.scalars for e in (s.init, s.update)} | {o.value for o in fold.outputs}
        rest = [e for e in statement_expressions(fold, nested=False) if e not in own]
        for attempt in range(len(names) + 2):
            if attempt == len(names) + 1:
                demand = dict.fromkeys(names, ALWAYS)
            roots = [(s.update, demand[s.name], _env(s.axes)) for s in fold.scalars]
            roots += [(o.value, ALWAYS, _env(o.axes)) for o in fold.outputs]
            self._values((*path, "update"), roots, path, rest)
            self._statements(fold.body, path)
            asked = {
                n: self.conditions.either(demand[n], self.before(self.carried.get((fold.name, n), NEVER), start))
                for n in names
            }
            if asked == demand:
                break
            demand = asked
        self.entered |= {(fold.name, n): d for n, d in demand.items()}
        roots = [(s.init, demand[s.name], _env(s.axes)) for s in fold.scalars]
        self._values((*path, "init"), roots, scope, [])

    def _values(self, site: Site, roots: list[tuple[Expr, Demand, Env]], scope: Site, rest: list[Expr]) -> None:
        """The demands of all nodes below the roots of one site; ``rest`` are its expressions that are always needed."""
        unit = self.units[site] = Unit(self.positions[site], scope)
        unit.others = [(e, ALWAYS) for e in rest]
        for root, demand, axes in roots:
            if carries_derivative(root.type):
                unit.roots.append(root)
                # bounds and literals may mention more indices than the value has
                self._use(unit, root, demand, axes)
            else:
                unit.others.append((root, demand))
        for node in reversed(unit.order()):
            self._below(unit, node)
        for node, demand in unit.needs(self.conditions, _is_state).items():
            self._state(node, self._seen(unit, node, demand, _NOWHERE))

    def _use(self, unit: Unit, node: Expr, demand: Demand, axes: Env) -> None:
        unit.demand(self.conditions, node, self._seen(unit, node, demand, axes), axes)

    def _seen(self, unit: Unit, node: Expr, demand: Demand, axes: Env) -> Demand:
        """The demand over the indices that the node depends on."""
        keep = free_indices(node) | self.ambient[unit.scope]
        missing = frozenset().union(*(self.conditions.free(lit) for c in demand for lit in c)) - keep
        return self.conditions.project(demand, missing, axes) if missing else demand

    def _below(self, unit: Unit, node: Expr) -> None:
        demand, axes = unit.demands[node], unit.axes[node]
        match node:
            case Op(name="select", args=(c, a, b)):
                for arm, holds in ((a, True), (b, False)):
                    if carries_derivative(arm.type):
                        self._use(unit, arm, self.conditions.narrow(demand, c, holds), axes)
                return
            case Reduce(where=where):
                inner = frozenset(a.name for a in node.axes)
                demand = self._hidden(demand, inner)
                demand = self.conditions.narrow(demand, where)
                axes = axes | {a.name: a for a in node.axes}
            case Scan(axis=axis):
                # a term counts for every later point of the axis
                demand = self._hidden(demand, frozenset((axis.name,)))
            case FoldResult() | CarryIn():
                self._state(node, demand)
        for child in value_children(node):
            self._use(unit, child, demand, axes)

    def _state(self, node: Expr, demand: Demand) -> None:
        """One more use of what a fold carries."""
        assert isinstance(node, FoldResult | CarryIn)
        own = self.carries.get((node.fold, node.name), ())
        if tuple(a.name for a in own) != tuple(a.name for a in axes_of(node)):
            demand = ALWAYS
        table = self.results if isinstance(node, FoldResult) else self.carried
        table[node.fold, node.name] = self.conditions.either(table.get((node.fold, node.name), NEVER), demand)

    def needs(self, values: Iterable[Expr]) -> dict[Expr, Demand]:
        """When each of the values is needed anywhere by conditions, subscripts and integers."""
        wanted = frozenset(values)
        found = dict.fromkeys(wanted, NEVER)
        for unit in self.units.values():
            for node, demand in unit.needs(self.conditions, wanted.__contains__).items():
                found[node] = self.conditions.either(found[node], demand)
        return found

    def _hidden(self, demand: Demand, names: frozenset[str]) -> Demand:
        return self.conditions.weaken(demand, lambda lit: not (self.conditions.free(lit) & names))

    def _merge(self) -> None:
        """One demand for a value that several statements use, where the first of them can see it."""
        uses: dict[Expr, list[Unit]] = {}
        for unit in self.units.values():
            for node in unit.demands:
                uses.setdefault(node, []).append(unit)
        for node, units in uses.items():
            if len(units) == 1:
                continue
            everywhere = any(u.demands[node] == ALWAYS for u in units)
            for scope in dict.fromkeys(u.scope for u in units):
                together = [u for u in units if u.scope == scope]
                demand = NEVER
                for u in together:
                    demand = ALWAYS if everywhere else self.conditions.either(demand, u.demands[node])
                first = min(u.position for u in together)
                if all(self._seen_from(lit) < first for c in demand for lit in c):
                    for u in together:
                        u.demands[node] = demand
