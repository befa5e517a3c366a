"""``--checked``: the conditions on data under which a kernel's equations mean what its source does, as statements.

What a guard, a size or a launch decides is known when the function is traced, and checked there. What the *contents* of
arrays decide is not: that a subscript read from an array lies within the array that it is applied to, that a row
pointer does not decrease, that an array declared injective is. Here each of these becomes a :class:`~kraise.ir.
equations.Check` before the statement that relies on it, over the lanes that use it: a load that a mask skips need not
be inside. A subscript that is no more than sizes and indices needs none: the domain is what the contract promises.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce

from kraise.analysis.conditions import conjunction, conjuncts, negate
from kraise.diagnostics import Span
from kraise.ir import equations as eq
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT, ScalarType
from kraise.ir.walk import axes_of, children, free_indices, statement_expressions, statements, topological, transform
from kraise.raising.run.context import Context

Path = tuple[eq.Expr, ...]
Env = tuple[tuple[str, eq.Axis], ...]
_MOST_VISITS = 4000  # of the expressions below a statement, each once for every condition on it
_DATA = (eq.Read, eq.CarryIn, eq.FoldResult, eq.HelperCall, eq.ArgReduce, eq.Reduce, eq.Scan)


def with_checks(
    kernel: eq.Kernel,
    assumed: tuple[eq.Check, ...],
    own: Collection[str] = (),
    shapes: Mapping[str, tuple[int, ...]] | None = None,
) -> eq.Kernel:
    """The kernel with its checks: those that the raiser ``assumed``, and those of its subscripts.

    The contents of the arrays ``own`` are the raiser's; ``shapes`` are those of the module's tables.
    """
    work = _Checks(own, shapes or {})
    notes = kernel.notes
    work.later = [c for c in assumed if _versions(c) - {0}]
    assumed = tuple(c for c in assumed if c not in work.later)
    body = work.body(kernel.body)
    returned = [
        c for r in kernel.returns if not isinstance(r, eq.Version) for c in work.new(work.of_value(r, (), (), None))
    ]
    if work.left:
        listed = ", ".join(dict.fromkeys(work.left))
        notes = (*notes, f"Not checked: that {listed} stays inside")
    notes = (*notes, *(f"Not checked: that {c.message}" for c in work.later))
    return replace(kernel, body=(*assumed, *body, *returned), notes=notes)


@dataclass(frozen=True)
class _Access:
    """A load or a store: its array, its subscripts, and the shape under which they see the array."""

    array: str
    subscripts: tuple[eq.Expr, ...]
    view: tuple[eq.Expr, ...]

    @classmethod
    def of(cls, node: eq.Read) -> _Access:
        return cls(node.version.array, node.subscripts, node.view)

    def __str__(self) -> str:
        return f"{self.array}[{', '.join(map(render_expr, self.subscripts))}]"


@dataclass(frozen=True)
class _Need:
    """That a subscript of ``access`` is ``within`` its extent at every point of ``axes`` where ``path`` holds."""

    access: _Access
    within: eq.Expr
    axes: tuple[eq.Axis, ...]
    path: Path
    span: Span | None


class _Checks:
    def __init__(self, own: Collection[str], shapes: Mapping[str, tuple[int, ...]]) -> None:
        self.own = own
        self.shapes: dict[str, tuple[eq.Expr, ...]] = {
            name: tuple(eq.Const(n, INT) for n in shape) for name, shape in shapes.items()
        }
        self.left: list[str] = []
        self.later: list[eq.Check] = []  # what the raiser relies on within loops, until the loop is reached
        self.known: set[eq.Expr] = set()  # what is checked before the current place

    def body(self, body: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
        out: list[eq.Stmt] = []
        for stmt in body:
            match stmt:
                case eq.Write():
                    out += [*self.new(self.of_write(stmt)), stmt]
                case eq.New():
                    self.shapes[stmt.version.array] = stmt.shape
                    out.append(stmt)
                case eq.Fold():
                    for s in stmt.scalars:
                        out += self.new(self.of_value(s.init, s.axes, (), stmt.span))
                    before = set(self.known)
                    out.append(replace(stmt, body=self.round(stmt)))
                    self.known = before
                case _:
                    out.append(stmt)
        return tuple(out)

    def round(self, fold: eq.Fold) -> tuple[eq.Stmt, ...]:
        """The body of a round; what its scalars become is made at its end."""
        if _has_tape(fold):
            self.left += [f"`{_Access.of(n)}`" for n in self.loads(statement_expressions(fold))]
            return fold.body
        made = {v for s in statements(fold.body) for v in _made(s)}
        placed = {c: found for c in self.later if (found := _of_a_round(c, fold)) is not None}
        self.later = [c for c in self.later if c not in placed]
        live = () if fold.condition is None or fold.axis is None else conjuncts(fold.condition)
        first: list[eq.Stmt] = []
        last: list[eq.Stmt] = []
        values = [(s.update, s.axes) for s in fold.scalars] + [(o.value, o.axes) for o in fold.outputs]
        checks = [c for value, axes in values for c in self.of_value(value, axes, live, fold.span)]
        for check in self.new(checks):
            assert check.condition is not None
            late = any(isinstance(n, eq.Read) and n.version in made for n in topological((check.condition,)))
            (last if late else first).append(check)
        return (*placed.values(), *first, *self.body(fold.body), *last)

    def of_write(self, w: eq.Write) -> list[_Need]:
        """The checks of a statement: of the loads in it, and of the cell that it writes."""
        env: Env = tuple((a.name, a) for a in w.axes)
        path = () if w.where is None else conjuncts(w.where)
        found = [] if w.where is None else self.of_value(w.where, w.axes, (), w.span)
        for e in (*w.subscripts, w.value):
            found += self.of_value(e, w.axes, path, w.span)
        if not w.segments:
            found += self.inside(_Access(w.after.array, w.subscripts, w.view), path, env, w.span)
        return list(dict.fromkeys(found))

    def of_value(self, root: eq.Expr, axes: tuple[eq.Axis, ...], path: Path, span: Span | None) -> list[_Need]:
        """The checks of the loads below ``root``, which is used where ``path`` holds."""
        found: list[_Need] = []
        stack: list[tuple[eq.Expr, Path, Env]] = [(root, path, tuple((a.name, a) for a in axes))]
        seen = set(stack)
        loads = self.loads((root,))
        above: set[eq.Expr] = set()
        for node in topological((root,)):
            if node in loads or not above.isdisjoint(children(node)):
                above.add(node)
        while stack:
            node, here, around = stack.pop()
            if node not in above:
                continue
            if len(seen) > _MOST_VISITS:
                self.left += [f"`{_Access.of(n)}`" for n in loads]
                return []
            if node in loads:
                assert isinstance(node, eq.Read)
                found += self.inside(_Access.of(node), here, around, span)
            for below in _below(node, here, around):
                if below not in seen:
                    seen.add(below)
                    stack.append(below)
        return list(dict.fromkeys(found))

    def new(self, needs: list[_Need]) -> list[eq.Check]:
        """The checks of what is not checked yet; one for a subscript, whatever the ways to it."""
        ways: dict[tuple[eq.Expr, tuple[eq.Axis, ...]], list[_Need]] = {}
        for need in needs:
            ways.setdefault((need.within, need.axes), []).append(need)
        found = []
        for (within, axes), same in ways.items():
            paths = [frozenset(n.path) for n in same]
            weakest = [n.path for n, p in zip(same, paths, strict=True) if not any(q < p for q in paths)]
            where: eq.Expr | None = None
            if all(weakest):
                masks = [m for path in dict.fromkeys(weakest) if (m := conjunction(path)) is not None]
                where = reduce(lambda a, b: eq.Op("or", (a, b), BOOL), masks)
            condition = within
            if axes:
                condition = eq.Reduce("and", axes, within, where, BOOL)
            elif where is not None:
                condition = eq.Op("or", (negate(where), within), BOOL)
            if condition not in self.known:
                self.known.add(condition)
                found.append(eq.Check(f"{same[0].access} leaves the array", condition, span=same[0].span))
        return found

    def loads(self, roots: Iterable[eq.Expr]) -> dict[eq.Read, None]:
        """The loads below ``roots`` that are to be checked."""
        nodes = (n for n in topological(roots) if isinstance(n, eq.Read) and any(map(self.is_data, n.subscripts)))
        return dict.fromkeys(nodes)

    def is_data(self, subscript: eq.Expr) -> bool:
        """Whether the contents of an argument decide a subscript (the numbers of rows are right by their making)."""
        return any(
            isinstance(n, _DATA) and not (isinstance(n, eq.Read) and n.version.array in self.own)
            for n in topological((subscript,))
        )

    def inside(self, a: _Access, path: Path, env: Env, span: Span | None) -> list[_Need]:
        """That the subscripts which data decides are within the array."""
        found = []
        for k, s in enumerate(a.subscripts):
            if not self.is_data(s):
                continue
            known = a.view or self.shapes.get(a.array)
            extent = known[k] if known else eq.Shape(a.array, k, INT)
            sides = (eq.Op("ge", (s, eq.Const(0, INT)), BOOL), eq.Op("lt", (s, extent), BOOL))
            within = conjunction([side for side in sides if side not in path])
            if within is None:
                continue
            used = free_indices(within).union(*map(free_indices, path))
            axes = tuple(x for n, x in env if n in used)
            found.append(_Need(a, within, axes, path, span))
        return found


def _below(node: eq.Expr, path: Path, around: Env) -> Iterator[tuple[eq.Expr, Path, Env]]:
    """The operands of a node, each with the condition under which it is used and the axes of its indices."""
    match node:
        case eq.Op(name="and" | "or" as name, args=(a, b)):
            yield a, path, around
            yield b, (*path, *(conjuncts(a) if name == "and" else (negate(a),))), around
        case eq.Op(name="select", args=(c, a, b)):
            yield c, path, around
            yield a, (*path, *conjuncts(c)), around
            yield b, (*path, negate(c)), around
        case eq.Reduce() | eq.ArgReduce() | eq.Scan():
            env = dict(around)
            own = axes_of(node)
            hidden = {a.name for a in own if a.name in env and env[a.name] is not a}
            kept = tuple(c for c in path if not free_indices(c) & hidden)
            inner = tuple((env | {a.name: a for a in own}).items())
            where = None if isinstance(node, eq.Scan) else node.where
            if where is not None:
                yield where, kept, inner
            yield node.body, (*kept, *(() if where is None else conjuncts(where))), inner
            if isinstance(node, eq.Scan):
                yield node.init, path, around
                if node.other is not None:
                    yield node.other, kept, inner
        case _:
            for c in children(node):
                yield c, path, around


def _versions(check: eq.Check) -> set[int]:
    roots = () if check.condition is None else (check.condition,)
    return {n.version.number for n in topological(roots) if isinstance(n, eq.Read)}


def _of_a_round(check: eq.Check, fold: eq.Fold) -> eq.Check | None:
    """The condition on what a loop carries, as it is when a round begins; None where it speaks of anything else, or of
    an array that a round changes in several steps."""
    if check.condition is None or fold.axis is None or not free_indices(check.condition) <= {fold.axis.name}:
        return None
    reads = {n.version for n in topological((check.condition,)) if isinstance(n, eq.Read)}
    entries = {c.entry.array: c.entry for c in fold.arrays}
    writes = [v.array for s in statements(fold.body) for v in _made(s)]
    if any(v.array not in entries or writes.count(v.array) != 1 for v in reads):
        return None

    def entry(node: eq.Expr) -> eq.Expr:
        return replace(node, version=entries[node.version.array]) if isinstance(node, eq.Read) else node

    return replace(check, condition=transform(check.condition, entry))


def _has_tape(fold: eq.Fold) -> bool:
    """Whether a loop is one of equinox's, which checkify cannot enter."""
    floats = any(s.type.is_inexact or s.type.kind == "number" for s in fold.scalars)
    return fold.axis is None and (floats or bool(fold.arrays))


def _made(stmt: eq.Stmt) -> tuple[eq.Version, ...]:
    match stmt:
        case eq.Write(after=after):
            return (after,)
        case eq.New(version=version):
            return (version,)
        case eq.Fold(arrays=arrays):
            return tuple(c.result for c in arrays)
    return ()


# --- what the raiser relies on -----------------------------------------------------------------


def rely_on_order(cx: Context, version: eq.Version, element: ScalarType, text: str) -> None:
    """Takes for granted, and says so, that the elements of a vector never decrease."""
    j = eq.Index("j", INT)
    this, after = (eq.Read(version, (at,), element) for at in (j, eq.Op("add", (j, eq.Const(1, INT)), INT)))
    last = eq.Op("sub", (eq.Shape(version.array, 0, INT), eq.Const(1, INT)), INT)
    axis = eq.Axis("j", eq.Const(0, INT), last)
    holds = eq.Op("le", (this, after), BOOL)
    cx.assumptions.append(text)
    cx.relied.append(eq.Check(text, eq.Reduce("and", (axis,), holds, None, BOOL)))


def rely_on_places(cx: Context, load: eq.Read, extent: eq.Shape) -> None:
    """Takes for granted, and says so, that the entries of a vector lie between 0 and the extent of an array."""
    version = load.version
    entry = eq.Read(version, (eq.Index("j", INT),), load.type)
    axis = eq.Axis("j", eq.Const(0, INT), eq.Shape(version.array, 0, INT))
    least = eq.Op("ge", (entry, eq.Const(0, INT)), BOOL)
    most = eq.Op("le", (entry, extent), BOOL)
    text = f"{version.array} must lie between 0 and {render_expr(extent)}"
    if text not in cx.assumptions:
        cx.assumptions.append(text)
        cx.relied.append(eq.Check(text, eq.Reduce("and", (axis,), eq.Op("and", (least, most), BOOL), None, BOOL)))
