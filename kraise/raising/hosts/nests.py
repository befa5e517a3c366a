"""A host's loop over launches that make an array row by row, or diagonal by diagonal, as one function: a nest of loops.

``for (i = 1; i < h; i++) row<<<…>>>(a, w, i)`` with ``a[i * w + j] = f(a[(i - 1) * w + …])`` in the kernel is the nest
over i and j, which is raised as any other: a scan over rows (:mod:`kraise.raising.loops.moving_rows`). One diagonal a
launch, ``j = d - i``, is the nest over i and j, too, which runs along its diagonals
(:mod:`kraise.raising.loops.wavefront`). The loop over launches would carry the whole array instead, and its gradient
add to all of it in each round.

Side conditions, each checked: the round is one launch of a kernel that asks for nothing of its launch, and whose
threads are told apart by their number in the grid only; the nest comes out as one loop that carries none of the
caller's arrays, with its inner rounds free, so that no thread sees what another one of its launch stores. Along
diagonals: the ranges of rows and columns are a box, all of whose diagonals are launched, and every load is of a cell
that both orders have stored, or of one that neither has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, fresh, live_before
from kraise.ir.types import INT32, ArrayType, ScalarType
from kraise.ir.walk import statement_expressions, statements, topological
from kraise.raising.hosts.demands import lone
from kraise.raising.hosts.nest_bodies import NoNest, assigned, continued, nodes, numbered, without_copy
from kraise.raising.hosts.nest_diagonals import SUMS, columns, in_kernel

Again = Callable[[k.Module, k.Function], eq.Kernel]


@dataclass
class Nests:
    """The nests of a module's hosts: the functions made for them, and their equations."""

    module: k.Module
    kernels: dict[str, eq.Kernel]
    again: Again
    functions: list[k.Function] = field(default_factory=list)
    raised: list[eq.Kernel] = field(default_factory=list)

    def within(self, host: h.Host) -> h.Host:
        """The host with such loops as calls."""
        body = self._block(host.body, frozenset())
        return host if body == host.body else replace(host, body=body)

    def _block(self, body: tuple[h.Stmt, ...], after: frozenset[str]) -> tuple[h.Stmt, ...]:
        out: list[h.Stmt] = []
        for at, stmt in enumerate(body):
            later = live_before(body[at + 1 :], after)
            match stmt:
                case h.For(body=(h.Launch() as launch,), condition=None) if stmt.var not in later:
                    out.append(self._call(stmt, launch) or stmt)
                case h.For(body=inner) | h.While(body=inner):
                    out.append(replace(stmt, body=self._block(inner, later | live_before((stmt,), later))))
                case _:
                    out.append(stmt)
        return tuple(out)

    def _call(self, loop: h.For, launch: h.Launch) -> h.Launch | None:
        kernel = self.kernels.get(launch.function)
        if kernel is None or not _worth(kernel, loop, launch):
            return None
        taken = {f.name for f in (*self.module.functions, *self.functions)} | {x.name for x in self.module.hosts}
        for diagonal in (False, True):
            try:
                nest = _Nest(self.module.function(launch.function), kernel, loop, launch)
                made = nest.function(fresh(set(taken), f"{launch.function}_rounds"), diagonal)
                module = replace(self.module, functions=(*self.module.functions, made))
                raised = self.again(module, made)
            except (NoNest, Refused):
                continue
            if _by_rows(raised) and not (nest.shared and _sees(raised)):
                self.functions.append(made)
                self.raised.append(raised)
                return h.Launch(made.name, nest.given(), span=launch.span)
        return None


def _worth(kernel: eq.Kernel, loop: h.For, launch: h.Launch) -> bool:
    """Whether the round's number says where the kernel stores."""
    (write,) = kernel.body if len(kernel.body) == 1 else (None,)
    if not isinstance(write, eq.Write) or kernel.launch or kernel.checks or kernel.tile:
        return False
    if kernel.of_launch or kernel.helpers or not lone(launch, kernel):
        return False
    moving = {p.name for p, a in zip(kernel.params, launch.args, strict=False) if loop.var in {*expression_names(a)}}  # type: ignore[attr-defined]
    places = topological(write.subscripts)
    placed = any(isinstance(n, eq.Param | eq.Index) and n.name in moving for n in places)
    own = any(isinstance(n, eq.Read) and n.version.array == write.after.array for n in topological((write.value,)))
    return (placed and own) or write.after.array in moving


def _by_rows(kernel: eq.Kernel) -> bool:
    """Whether a nest is one loop over rows of its own, with no loop in it."""
    folds = [s for s in kernel.body if isinstance(s, eq.Fold)]
    own = {p.name for p in kernel.params}  # type: ignore[attr-defined]
    if len(folds) != 1 or any(isinstance(s, eq.Fold) for s in folds[0].body) or folds[0].scalars:
        return False
    return bool(folds[0].arrays) and not any(a.outside.array in own for a in folds[0].arrays)


def _sees(kernel: eq.Kernel) -> bool:
    """Whether a round of a nest by rows loads, beside them, of an array that it stores to."""
    stored = {v.array for v in kernel.returns if isinstance(v, eq.Version)}
    (fold,) = (s for s in kernel.body if isinstance(s, eq.Fold))
    roots = [e for s in statements((fold,)) for e in statement_expressions(s)]
    return any(isinstance(n, eq.Read) and n.version.array in stored for n in topological(roots))


class _Nest:
    """The function that one loop over launches is."""

    def __init__(self, kernel: k.Function, equations: eq.Kernel, loop: h.For, launch: h.Launch):
        self.kernel, self.equations, self.loop, self.launch = kernel, equations, loop, launch
        self.names = {p.name for p in kernel.params} | assigned(kernel.body)
        self.params: list[k.Param] = []
        self.args: list[Any] = []
        self.known: dict[str, str] = {}  # a number of the host by the parameter that is given it
        self.arrays: dict[str, k.Expr | None] = {}  # by parameter: where it begins in the host's array
        self.moving: list[tuple[k.Param, Any]] = []
        self.homes: dict[str, str] = {}  # by parameter: the one that has its memory
        given: dict[str, k.Param] = {}
        pairs = list(zip(kernel.params, launch.args, strict=True)) if len(kernel.params) == len(launch.args) else []
        if not pairs or not all(isinstance(p.type, ScalarType | ArrayType) and not p.by_reference for p, _ in pairs):
            raise NoNest
        for p, a in pairs:
            if isinstance(a, k.ArrayRef) and isinstance(p.type, ArrayType):
                home = given.setdefault(a.array, p)
                if a.rows or home.type != p.type or (p.type.ndim != 1 and (home is not p or a.offset is not None)):
                    raise NoNest
                if home is p:
                    self._param(p, k.ArrayRef(a.array, span=a.span))
                self.arrays[p.name], self.homes[p.name] = a.offset, home.name
            elif isinstance(p.type, ScalarType) and not isinstance(a, k.ArrayRef):
                if loop.var in {*expression_names(a)}:
                    self.moving.append((p, a))
                    continue
                self._param(p, a)
                if isinstance(a, k.Var):
                    self.known.setdefault(a.name, p.name)
            else:
                raise NoNest
        alone = next((p for p, a in self.moving if isinstance(a, k.Var)), None)
        self.var = alone.name if alone is not None else fresh(self.names, loop.var)
        if any(p.type.kind != "int" for p, _ in self.moving if isinstance(p.type, ScalarType)):
            raise NoNest  # an unsigned number goes round
        self.moving = [(p, a) for p, a in self.moving if p is not alone]
        if assigned(kernel.body) & {p.name for p in kernel.params}:
            raise NoNest  # a thread's own number, which the next one would find changed

    @property
    def shared(self) -> bool:
        """Whether two parameters have one memory: a thread could see there what another one of its launch stores."""
        return any(own != home for own, home in self.homes.items())

    def given(self) -> tuple[Any, ...]:
        """What the function is called with."""
        return tuple(self.args)

    def function(self, name: str, diagonal: bool) -> k.Function:
        """The nest; along diagonals the number of the diagonal is the sum of the inner indices. Raises NoNest."""
        start, stop, step = (self._own(e) for e in (self.loop.start, self.loop.stop, self.loop.step))
        body = continued(self._body(self.kernel.body))
        head = tuple(k.Assign(p.name, self._own(a), p.type) for p, a in self.moving if isinstance(p.type, ScalarType))
        covers = dict(self.equations.covers)
        threads = {axis: fresh(self.names, "xyz"[axis]) for axis in sorted(covers)}
        body = numbered(body, threads)
        if any(isinstance(n, k.Hw) for n in nodes(body)):
            raise NoNest
        one = k.Const(1, INT32)
        if diagonal:
            if len(threads) != 1 or head or self.shared:
                raise NoNest
            (t,) = threads.values()
            rows, low, high = columns(self.equations, self.var, start, stop, step)
            q = fresh(self.names, "c")
            total = k.Op("add", (k.Var(t, INT32), k.Var(q, INT32)), INT32)
            inner = k.For(q, low, high, one, (k.Assign(self.var, total, INT32), *body), span=self.launch.span)
            body = (k.For(t, k.Const(0, INT32), rows, one, (inner,), span=self.loop.span),)
        else:
            for axis, number in threads.items():
                end = in_kernel(covers[axis])
                body, var = without_copy(body, number)
                body = (k.For(var, k.Const(0, INT32), end, one, body, span=self.launch.span),)
            body = (k.For(self.var, start, stop, step, (*head, *body), span=self.loop.span),)
        doc = f"All rounds of a loop that launches {self.kernel.name}."
        return k.Function(name, "plain", tuple(self.params), body, doc, span=self.loop.span, widens=self.kernel.widens)

    # --- the numbers of the host in the function

    def _param(self, p: k.Param, a: Any) -> None:
        self.params.append(replace(p, default=None))
        self.args.append(a)

    def _own(self, e: Any) -> k.Expr:
        """A number of the host as one of the function. Raises NoNest."""
        match e:
            case k.Const():
                return e
            case k.Var(name=name, type=t):
                if name == self.loop.var:
                    return k.Var(self.var, INT32)
                if name not in self.known:
                    if not t.is_integer:
                        raise NoNest
                    self.known[name] = fresh(self.names, name)
                    self._param(k.Param(self.known[name], t), e)
                return k.Var(self.known[name], t)
            case k.Cast(type=t, arg=arg) if t.is_integer:
                return k.Cast(t, self._own(arg))
            case k.Shape(array=array, axis=axis, type=t):
                pairs = zip(self.params, self.args, strict=True)
                home = next((p.name for p, a in pairs if isinstance(a, k.ArrayRef) and a.array == array), None)
                if home is None or self.arrays[home] is not None:
                    raise NoNest
                return k.Shape(home, axis, t)
            case k.Op(name=name, args=args, type=t) if name in SUMS:
                return k.Op(name, tuple(map(self._own, args)), t)
        raise NoNest

    def _body(self, node: Any) -> Any:
        """The kernel's statements over the function's arrays."""
        if isinstance(node, tuple):
            return tuple(map(self._body, node))
        if isinstance(node, k.ArrayRef | k.Call | k.CallStmt | k.Warp):
            raise NoNest
        if not is_dataclass(node) or isinstance(node, ScalarType | type):
            return node
        if isinstance(node, k.Load | k.Store | k.Shape) and node.array not in self.arrays:
            raise NoNest
        if isinstance(node, k.Shape) and self.shared:
            raise NoNest
        changed = {f.name: self._body(getattr(node, f.name)) for f in fields(node) if f.name not in ("span", "type")}
        offset = self.arrays[node.array] if isinstance(node, k.Load | k.Store | k.Shape) else None
        if isinstance(node, k.Load | k.Store | k.Shape):
            changed["array"] = self.homes[node.array]
        if offset is not None:
            if isinstance(node, k.Shape):
                raise NoNest
            (at,) = changed["subscripts"]
            changed["subscripts"] = (k.Op("add", (self._own(offset), at), at.type),)
        return replace(node, **changed)


__all__ = ["Nests"]
