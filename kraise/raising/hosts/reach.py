"""How far into its arrays a raised kernel reaches, as a number of elements over its parameters.

An upper bound from the equations: the largest value of each subscript over the box of its axes. What data say
(``x[idx[i]]``) is not bounded. Sizes are not negative (contract, section 1), and an axis has at least one point where
an access is made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from kraise.analysis.poly import Poly, constant, to_poly
from kraise.ir import equations as eq
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, sets
from kraise.ir.rename import within
from kraise.ir.types import INT, INT32, ScalarType

Named = Callable[[eq.Expr], Poly | None]  # what a parameter, a shape or the launch is for the host


class _Unknown(Exception):
    """Nothing bounds a subscript."""


class Numbers:
    """A host's integer expressions in normal form, numbers that are set once by what they are made of; what is no sum
    or product is an atom by its text."""

    def __init__(self, body: tuple[h.Stmt, ...], parameters: set[str]):
        self.times = times(body)
        self.made: dict[str, Poly] = {}
        fixed = {n for n in parameters if not self.times[n]}
        for s in body:
            once = isinstance(s, h.Assign) and self.times[s.name] == 1 and s.name not in parameters
            if not isinstance(s, h.Assign) or not once or not s.type.is_integer:
                continue
            if set(expression_names(s.value)) <= fixed and not within(s.value, k.Load | h.Library):  # type: ignore[arg-type]
                self.made[s.name] = self(s.value)
                fixed.add(s.name)
        self.fixed = frozenset(fixed)
        moved = [c for s in body if isinstance(s, h.Update | h.Alloc) for c in _counts(s)]
        self.counts = list(dict.fromkeys(self(c) for c in moved if set(expression_names(c)) <= fixed))

    def not_negative(self, p: Poly, depth: int = 3) -> bool:
        """Is a number certainly not below 0, where sizes and what is copied or allocated are not?"""
        if not_negative(p):
            return True
        return depth > 0 and any(
            any(c < 0 and q.terms.get(m, 0) < 0 for m, c in p.terms.items()) and self.not_negative(p - q, depth - 1)
            for q in self.counts
        )

    def __call__(self, e: Any) -> Poly:
        match e:
            case k.Const(value=int(value)):
                return constant(value)
            case k.Cast(type=ScalarType(is_integer=True), arg=arg) if arg.type.is_integer:
                return self(arg)
            case k.Var(name=name):
                return self.made.get(name) or Poly({(eq.Param(name, INT),): 1})
            case k.Op(name="add", args=(a, b)):
                return self(a) + self(b)
            case k.Op(name="sub", args=(a, b)):
                return self(a) - self(b)
            case k.Op(name="mul", args=(a, b)):
                return self(a) * self(b)
            case k.Op(name="tdiv" | "floordiv", args=(a, b)):
                return _quotient(self(a), self(b))
        return Poly({(eq.Param(repr(e), INT),): 1})

    def expression(self, p: Poly, known: Container[str]) -> k.Expr | None:
        """A number of elements over numbers of the host that are ``known``; None where it is no sum of products."""
        for name, made in self.made.items():
            if made == p and name in known:
                return k.Var(name, INT32)
        out: k.Expr | None = None
        for monomial, c in sorted(p.terms.items(), key=lambda x: (not x[0], repr(x))):
            term: k.Expr | None = None
            for a in monomial:
                if not isinstance(a, eq.Param) or not a.name.isidentifier() or a.name not in known:
                    return None
                term = k.Var(a.name, INT32) if term is None else k.Op("mul", (term, k.Var(a.name, INT32)), INT32)
            if term is None:
                term = k.Const(abs(c) if out is not None else c, INT32)
            elif abs(c) != 1 or (c < 0 and out is None):
                term = k.Op("mul", (k.Const(abs(c) if out is not None else c, INT32), term), INT32)
            out = term if out is None else k.Op("add" if c > 0 else "sub", (out, term), INT32)
        return out if out is not None else k.Const(0, INT32)


def _counts(stmt: h.Update | h.Alloc) -> tuple[k.Expr, ...]:
    return (stmt.shape or ()) if isinstance(stmt, h.Alloc) else (stmt.count,) if stmt.count is not None else ()


def times(body: tuple[h.Stmt, ...]) -> Counter[str]:
    """How often a name is set, in all blocks."""
    found: Counter[str] = Counter()
    for s in body:
        found.update(sets(s))
        for block in h.children(s):
            found += times(block)
    return found


def not_negative(p: Poly) -> bool:
    """Is a sum of products of sizes certainly none below 0?"""
    return all(c >= 0 for c in p.terms.values())


def _quotient(a: Poly, b: Poly) -> Poly:
    by = b.value
    if by and all(c % by == 0 for c in a.terms.values()):
        return Poly({m: c // by for m, c in a.terms.items()})
    return Poly({(eq.Param(f"{_text(a)} // {_text(b)}", INT),): 1})


def _text(p: Poly) -> str:
    return repr(sorted((tuple(sorted(map(repr, m))), c) for m, c in p.terms.items()))


def reach(kernel: eq.Kernel, array: str, named: Named) -> list[Poly] | None:
    """The numbers of elements of ``array`` of which the kernel touches none behind the largest; None if not known."""
    found: list[Poly] = []
    try:
        for subscripts, view, axes in _accesses(kernel.body, {}, {}):
            if subscripts is None:
                continue
            name, places = subscripts
            if name != array:
                continue
            if view:
                size = constant(1)
                for extent in view:
                    size = size * _value(extent, named)
                found.append(size)
                continue
            last = _extreme(places[0], axes, named, True)
            first = _extreme(places[0], axes, named, False)
            if not _positive(first, axes, named):
                return None
            found.append(last + 1)
    except (_Unknown, RecursionError):
        return None
    return list(dict.fromkeys(found))


def _positive(p: Poly, axes: Mapping[str, eq.Axis], named: Named) -> bool:
    """Is a place not negative, where no axis is empty?"""
    if not_negative(p):
        return True
    for axis in axes.values():
        try:
            if not_negative(p - (_value(axis.hi, named) - _value(axis.lo, named) - 1)):
                return True
        except _Unknown:
            continue
    return False


def _value(e: eq.Expr, named: Named) -> Poly:
    """An expression without indices, for the host."""
    return _extreme(e, {}, named, True)


def _extreme(e: eq.Expr, axes: Mapping[str, eq.Axis], named: Named, largest: bool) -> Poly:
    """The largest or the smallest value over the axes."""
    out = constant(0)
    for monomial, c in to_poly(e).terms.items():
        bounded = [a for a in monomial if _varies(a, axes)]
        term = constant(c)
        for a in monomial:
            if a not in bounded:
                term = term * _atom(a, axes, named)
        for a in bounded:
            up = (c > 0) == largest
            if len(bounded) > 1 and not not_negative(_bound(a, axes, named, False)):
                raise _Unknown
            term = term * _bound(a, axes, named, up)
        out = out + term
    return out


def _varies(e: eq.Expr, axes: Mapping[str, eq.Axis]) -> bool:
    """Does it depend on the axes or on data, or is it one of two bounds?"""
    return any(
        (isinstance(x, eq.Index) and x.name in axes)
        or isinstance(x, eq.Read | eq.CarryIn | eq.FoldResult)
        or (isinstance(x, eq.Op) and x.name in ("min", "max"))
        for x in _nodes(e)
    )


def _bound(e: eq.Expr, axes: Mapping[str, eq.Axis], named: Named, up: bool) -> Poly:
    match e:
        case eq.Index(name=name) if name in axes:
            axis = axes[name]
            return _value(axis.hi, named) - 1 if up else _extreme(axis.lo, {}, named, False)
        case eq.Op(name="mod" | "tmod", args=(a, b)) if not _varies(b, axes):
            low = _extreme(a, axes, named, False)
            if e.name == "tmod" and not _positive(low, axes, named):
                raise _Unknown
            return _value(b, named) - 1 if up else constant(0)
        case eq.Op(name=("min" | "max") as name, args=args) if (name == "min") == up:
            for a in args:  # either is a bound
                try:
                    return _extreme(a, axes, named, up)
                except _Unknown:
                    continue
        case eq.Cast(type=ScalarType(is_integer=True), arg=arg) if arg.type.is_integer:
            return _extreme(arg, axes, named, up)
    raise _Unknown


def _atom(e: eq.Expr, axes: Mapping[str, eq.Axis], named: Named) -> Poly:
    """What an atom without indices is for the host."""
    match e:
        case eq.Param() | eq.Shape():
            found = named(e)
            if found is None:
                raise _Unknown
            return found
        case eq.Op(name="floordiv" | "tdiv", args=(a, b)):
            return _quotient(_value(a, named), _value(b, named))
        case eq.Cast(type=ScalarType(is_integer=True), arg=arg) if arg.type.is_integer:
            return _value(arg, named)
    raise _Unknown


def _nodes(e: Any) -> Iterator[Any]:
    seen: set[int] = set()
    waiting = [e]
    while waiting:
        x = waiting.pop()
        if id(x) in seen:
            continue
        seen.add(id(x))
        yield x
        waiting += _parts(x)


def _parts(x: Any) -> list[Any]:
    out: list[Any] = []
    for f in fields(x) if is_dataclass(x) else ():
        value = getattr(x, f.name)
        for v in value if isinstance(value, tuple) else (value,):
            if is_dataclass(v) and not isinstance(v, ScalarType | eq.Version | type) and f.name != "span":
                out.append(v)
    return out


Access = tuple[tuple[str, tuple[eq.Expr, ...]] | None, tuple[eq.Expr, ...], dict[str, eq.Axis]]


def _accesses(x: Any, axes: dict[str, eq.Axis], seen: dict[Any, None]) -> Iterator[Access]:
    """Every read and write with the axes around it."""
    if isinstance(x, tuple):
        for y in x:
            yield from _accesses(y, axes, seen)
        return
    if not is_dataclass(x) or isinstance(x, ScalarType | eq.Version | type):
        return
    own: tuple[eq.Axis, ...] = ()
    match x:
        case eq.Write(axes=own) | eq.Reduce(axes=own) | eq.ScalarCarry(axes=own) | eq.Output(axes=own):
            pass
        case eq.ArgReduce(axis=axis) | eq.Scan(axis=axis):
            own = (axis,)
        case eq.Fold(axis=axis) if axis is not None:
            own = (axis,)
    inner = {**axes, **{a.name: a for a in own}} if own else axes
    key = (id(x), tuple(sorted((n, id(a)) for n, a in inner.items())))
    if key in seen:
        return
    seen[key] = None
    match x:
        case eq.Write():
            yield (x.after.array, x.subscripts), x.view, inner
        case eq.Read():
            yield (x.version.array, x.subscripts), x.view, inner
    for f in fields(x):
        value = getattr(x, f.name)
        if f.name in ("span", "axes", "axis") or isinstance(value, str | int | float | bool | type(None)):
            continue
        yield from _accesses(value, inner, seen)
