"""Kernels whose ends a host computes from what it knows beside them, as kernels that compute these themselves.

``lo = max(1, d - m + 1); hi = min(d - 1, n - 1); diagonal<<<…>>>(f, d, lo, hi, m)`` launches one anti-diagonal: nothing
in the kernel says that ``d - i`` stays in a row for ``lo <= i <= hi``, and so it is refused as a race. With the host's
sums in place of the parameters it says so. The kernel is made anew, under a name of its own: its numbers of threads
begin at ``lo``, and comparisons with the greater (or the lesser) of two numbers are comparisons with both.

Side conditions, each checked: the numbers are sums, minima and maxima of integers that the launch is given or that the
host has; between their computing and the launch nothing changes what they are made of; the kernel changes none of its
parameters; the launch is taken to cover what the kernel's guard lets through, as any launch is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.diagnostics import Refused
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, fresh, reads, sets
from kraise.ir.rename import renamed
from kraise.ir.rewrite import rewritten
from kraise.ir.types import BOOL, INT, INT32, NUMBER, ScalarType
from kraise.raising.hosts.demands import lone
from kraise.raising.hosts.nest_bodies import NoNest, assigned, nodes, numbered
from kraise.raising.hosts.nest_diagonals import in_kernel
from kraise.raising.threads.spelled import integer

Again = Callable[[k.Module, k.Function], eq.Kernel]
_SUMS = ("add", "sub", "mul", "min", "max")
_OPEN = k.Var("?", NUMBER)


def with_own_ends(module: k.Module, kernels: list[eq.Kernel], again: Again) -> tuple[k.Module, list[eq.Kernel]]:
    """The module and the kernels with such kernels beside them, and the hosts that launch these."""
    work = _Ends(module, {x.name for x in kernels}, again)
    hosts = tuple(work.within(x) for x in module.hosts)
    if not work.raised:
        return module, kernels
    return replace(module, functions=(*module.functions, *work.made), hosts=hosts), [*kernels, *work.raised]


class _Ends:
    def __init__(self, module: k.Module, done: set[str], again: Again):
        self.module, self.done, self.again = module, done, again
        self.functions = {f.name: f for f in module.functions if f.kind == "kernel" and f.name not in done}
        self.made: list[k.Function] = []
        self.raised: list[eq.Kernel] = []

    def within(self, host: h.Host) -> h.Host:
        """The host with its launches of such kernels."""
        if not self.functions.keys() & h.launched_by(host):
            return host
        self.host = host
        body = self._block(host.body)
        return host if body == host.body else replace(host, body=without_unread(body))

    def _block(self, body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
        known: dict[str, k.Expr] = {}
        out: list[h.Stmt] = []
        for s in body:
            match s:
                case h.Assign(name=name, value=value, type=t) if t.is_integer or t.kind == "number":
                    found = _put(value, known)
                    _forget(known, {name})
                    if found is not None and name not in {*expression_names(found)}:
                        known[name] = found
                case h.Launch(function=name) if name in self.functions:
                    s = self._launch(s, known) or s
                case h.For(body=inner) | h.While(body=inner):
                    s = replace(s, body=self._block(inner))
                    _forget(known, {n for x in _all((s,)) for n in sets(x)})
                case _:
                    _forget(known, {n for x in _all((s,)) for n in sets(x)})
            out.append(s)
        return tuple(out)

    def _launch(self, launch: h.Launch, known: dict[str, k.Expr]) -> h.Launch | None:
        function = self.functions[launch.function]
        own = {
            p.name: found
            for p, a in zip(function.params, launch.args, strict=False)
            if isinstance(p.type, ScalarType) and p.type.kind == "int" and not isinstance(a, k.ArrayRef)
            and (found := _put(a, known)) is not None and found != a  # type: ignore[arg-type]
        }  # fmt: skip
        if not any(isinstance(n, k.Op) and n.name in ("min", "max") for e in own.values() for n in nodes(e)):
            return None
        try:
            made, args = self._made(function, launch, own)
            raised = self.again(replace(self.module, functions=(*self.module.functions, made)), made)
        except (NoNest, Refused):
            return None
        if raised.launch or raised.of_launch or not lone(launch, raised):
            return None
        self.made.append(made)
        self.raised.append(replace(raised, least=()))
        return replace(launch, function=made.name, args=args, grid=(_OPEN,), block=(_OPEN,))

    def _made(self, function: k.Function, launch: h.Launch, own: dict[str, k.Expr]) -> tuple[k.Function, Any]:
        """The kernel with these parameters computed, and what it is given. Raises NoNest."""
        if assigned(function.body) & {p.name for p in function.params}:
            raise NoNest
        names = {p.name for p in function.params} | assigned(function.body)
        kept = [(p, a) for p, a in zip(function.params, launch.args, strict=True) if p.name not in own]
        homes = {a.name: p.name for p, a in kept if isinstance(a, k.Var) and p.type in (INT32, INT)}
        params, args = [p for p, _ in kept], [a for _, a in kept]
        for e in own.values():
            for n in nodes(e):
                if isinstance(n, k.Var) and n.name not in homes:
                    homes[n.name] = fresh(names, n.name)
                    params.append(k.Param(homes[n.name], INT32))
                    args.append(n)
        ends = {p: renamed(e, homes) for p, e in own.items()}
        body = _from_start(function.body, ends, names)
        head = tuple(k.Assign(p, e, INT32, span=launch.span) for p, e in ends.items())
        taken = {f.name for f in (*self.module.functions, *self.made)} | {x.name for x in self.module.hosts}
        name = fresh(set(taken), f"{function.name}_in_{self.host.name}")
        made = replace(function, name=name, params=tuple(params), body=(*head, *_split(body, ends)))
        return made, tuple(args)


def _all(body: tuple[h.Stmt, ...]) -> Iterator[h.Stmt]:
    for s in body:
        yield s
        for block in h.children(s):
            yield from _all(block)


def _forget(known: dict[str, k.Expr], names: set[str]) -> None:
    for n in [n for n, e in known.items() if n in names or names & {*expression_names(e)}]:
        del known[n]


def _put(e: Any, known: dict[str, k.Expr]) -> k.Expr | None:
    """A number of the host as a sum, minimum or maximum of numbers that nothing in the block computes; None if it is
    another."""
    match e:
        case k.Const(value=value) if type(value) is int:
            return k.Const(value, INT32)
        case k.Var(name=name, type=t) if t.is_integer or t.kind == "number":
            return known.get(name, k.Var(name, INT32) if t in (INT32, INT) or t.kind == "number" else None)  # type: ignore[arg-type]
        case k.Cast(type=t, arg=arg) if t in (INT32, INT):
            return _put(arg, known)
        case k.Op(name="select", args=(k.Op(name=way, args=(x, y)), a, b)) if way in ("lt", "le", "gt", "ge"):
            if (x, y) not in ((a, b), (b, a)):
                return None
            lesser = (way in ("lt", "le")) is ((x, y) == (a, b))
            parts = _put(a, known), _put(b, known)
            return None if None in parts else k.Op("min" if lesser else "max", parts, INT32)  # type: ignore[arg-type]
        case k.Op(name=name, args=args) if name in _SUMS and len(args) == 2:
            found = tuple(_put(a, known) for a in args)
            return None if None in found else k.Op(name, found, INT32)  # type: ignore[arg-type]
    return None


def _from_start(body: tuple[k.Stmt, ...], ends: dict[str, k.Expr], names: set[str]) -> tuple[k.Stmt, ...]:
    """The statements with the threads counted from the number on that is added to each of theirs. Raises NoNest."""
    t, own = fresh(names, "t"), fresh(names, "at")
    body = _grouped(body)
    new = numbered(body, {0: t})
    places = [n for n in nodes(body) if isinstance(n, k.Op) and numbered(n, {0: t}) == k.Var(t, n.type, span=n.span)]
    if not places or any(isinstance(n, k.Hw) for n in nodes(new)):
        raise NoNest
    added = [n.args for n in nodes(new) if isinstance(n, k.Op) and n.name == "add"]
    pairs = [{x.name for x in map(integer, pair) if isinstance(x, k.Var)} for pair in added]
    copies = {n.name for n in nodes(new) if isinstance(n, k.Assign) and integer(n.value) == k.Var(t, n.value.type)}
    starts = [n for n in ends if any({n, x} in pairs for x in (t, *copies))]
    if len(starts) != 1:
        raise NoNest
    place, start = k.Cast(INT32, places[0]), k.Var(starts[0], INT32)
    here = k.Var(own, INT32)
    first = (k.Assign(own, place, INT32), k.Assign(t, k.Op("sub", (here, start), INT32), INT32))
    return (*first, k.If(k.Op("ge", (here, start), BOOL), new))


def _grouped(body: tuple[k.Stmt, ...]) -> Any:
    """The statements with ``(lo + block * blockDim) + thread`` as ``lo + (block * blockDim + thread)``."""

    def one(node: Any) -> Any | None:
        match node:
            case k.Op(name="add", args=(first, k.Hw(kind="thread") as thread), type=t):
                first = rewritten(first, one)
                inner = integer(first)
                if isinstance(inner, k.Op) and inner.name == "add":
                    for block, rest in (inner.args, inner.args[::-1]):
                        if _of_blocks(block):
                            last = k.Op("add", (block, thread), t, span=node.span)
                            return k.Op("add", (rest, last), t, span=node.span)
                return replace(node, args=(first, thread))
        return None

    return rewritten(body, one)


def _of_blocks(e: k.Expr) -> bool:
    """Whether it is ``blockIdx.x * blockDim.x``."""
    product = integer(e)
    return (
        isinstance(product, k.Op) and product.name == "mul" and all(isinstance(integer(x), k.Hw) for x in product.args)
    )


def _split(body: tuple[k.Stmt, ...], ends: dict[str, k.Expr]) -> tuple[k.Stmt, ...]:
    """The statements with each comparison with one of two numbers as comparisons with both, where it is that."""
    every = [n for n in nodes(body) if isinstance(n, k.Assign)]
    once = [n for n in every if sum(x.name == n.name for x in every) == 1]
    looped = {
        n.name for f in nodes(body) if isinstance(f, k.For | k.While) for n in nodes(f.body) if isinstance(n, k.Assign)
    }
    sums = {n.name: n.value for n in once if n.name not in looped}
    values = {n: _poly(e, {}) for n, e in ends.items()}

    def one(e: k.Op) -> k.Expr:
        a, b = (_poly(x, sums) for x in e.args)
        if a is None or b is None:
            return e
        least = a - b if e.name in ("ge", "gt") else b - a
        parts = _parts(least - (e.name in ("gt", "lt")), values)
        zero = k.Const(0, INT32)
        found = [k.Op("ge", (in_kernel(to_expr(p)), zero), BOOL, span=e.span) for p in parts]
        whole: k.Expr = found[0]
        for other in found[1:]:
            whole = k.Op("and", (whole, other), BOOL, span=e.span)
        return whole

    def visit(node: Any) -> Any | None:
        if isinstance(node, k.Op) and node.name in ("lt", "le", "gt", "ge"):
            return one(replace(node, args=rewritten(node.args, visit)))
        return None

    return rewritten(body, visit)  # type: ignore[no-any-return]


def _parts(p: Poly, values: dict[str, Poly | None]) -> list[Poly]:
    """``p >= 0`` without the computed numbers, as conditions on each of what it takes the lesser (or greater) of."""
    for a in p.atoms():
        value = values.get(a.name) if isinstance(a, eq.Param) else None
        if value is not None:
            return _parts(p.substitute(a, value), values)
    for a in p.atoms():
        times = p.coefficient(a).value
        match a:
            case eq.Op(name="min" | "max" as name, args=args) if times in (1, -1) and (name == "min") is (times == 1):
                return [x for side in args for x in _parts(p.substitute(a, to_poly(side)), values)]
    return [p]


def _poly(e: Any, sums: dict[str, k.Expr], depth: int = 0) -> Poly | None:
    """An integer expression of a kernel as a polynomial over its names; None where it is none."""
    match e:
        case k.Const(value=value) if type(value) is int:
            return to_poly(eq.Const(value, INT32))
        case k.Var(name=name, type=t) if t.kind == "int":
            if name in sums and depth < 8 and (found := _poly(sums[name], sums, depth + 1)) is not None:
                return found
            return to_poly(eq.Param(name, INT32))
        case k.Cast(type=t, arg=arg) if t == INT32:
            return _poly(arg, sums, depth)
        case k.Op(name="add" | "sub" | "mul" as name, args=(a, b)):
            left, right = _poly(a, sums, depth), _poly(b, sums, depth)
            if left is None or right is None:
                return None
            return left + right if name == "add" else left - right if name == "sub" else left * right
        case k.Op(name="min" | "max" as name, args=(a, b)):
            left, right = _poly(a, sums, depth), _poly(b, sums, depth)
            if left is None or right is None:
                return None
            return to_poly(eq.Op(name, (to_expr(left), to_expr(right)), INT32))
    return None


def without_unread(body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The statements without the numbers that nothing reads any more."""
    while True:
        read = {n for s in _all(body) for n in reads(s)}
        new = _without(body, read)
        if new == body:
            return body
        body = new


def _without(body: tuple[h.Stmt, ...], read: set[str]) -> tuple[h.Stmt, ...]:
    out: list[h.Stmt] = []
    for s in body:
        if isinstance(s, h.Assign) and s.name not in read:
            continue
        match s:
            case h.For(body=inner) | h.While(body=inner):
                s = replace(s, body=_without(inner, read))
            case h.If(body=one, orelse=other):
                s = replace(s, body=_without(one, read), orelse=_without(other, read))
        out.append(s)
    return tuple(out)


__all__ = ["with_own_ends"]
