"""Integers that 32 bits may not hold: the emitted arrays of indices have JAX's default width.

A Python source counts in integers without an end (numba in 64 bits), and unsigned ones of C wrap at 2**32, while the
emitted ``jnp.arange(n)`` has 32 bits unless the user, or the module, turns on 64. Mostly that makes no difference: what
is added, subtracted and multiplied is right modulo 2**32 whatever wraps on the way, so a subscript that ends inside its
array is right, and so is what is stored in an array of 32 bits or masked by a power of two. It does where such a value
is divided, compared, made a float, or stored in whatever the argument holds. There the function checks, from the sizes
it is traced with, that the value fits, and raises a ``ValueError`` where it may not. What depends on data keeps the
width of its arrays, as in NumPy; the docstring says so where a carried product may grow.
"""

from __future__ import annotations

from collections.abc import Iterator

from kraise.analysis.conditions import of_launch
from kraise.analysis.poly import Poly, to_expr, to_poly
from kraise.ir import equations as eq
from kraise.ir import kernel as k
from kraise.ir.operations import BITWISE
from kraise.ir.print_expressions import render_expr
from kraise.ir.types import BOOL, INT, UINT32, ArrayType
from kraise.ir.walk import axes_of, children, free_indices, topological

Check = tuple[eq.Expr, str]
Env = tuple[tuple[str, eq.Axis], ...]
LIMIT = 2**31
WIDE = eq.Param("x64.given", BOOL)  # whether JAX computes in 64 bits, as the function sees it
_RING = ("add", "sub", "mul", "neg", "shl")
_LONGEST = 100  # characters of an expression in a message
_SMALL = 4  # so many arrays' lengths added up are taken to fit


def checks(
    body: tuple[eq.Stmt, ...], returns: tuple[object, ...], params: tuple[k.Param, ...], unbounded: bool
) -> tuple[list[Check], list[str]]:
    """The conditions on sizes under which every value fits, and sentences on what no size tells; ``unbounded``: the
    source's integers have no end."""
    statics = {n for e in _bounds(body) for n in topological((e,)) if isinstance(n, eq.Param)}
    given = [(p.name, p.type.element) for p in params if isinstance(p.type, ArrayType)]
    made = [(s.version.array, s.element) for s in body if isinstance(s, eq.New)]
    long = frozenset(name for name, t in (*given, *made) if t.is_integer and (t.bits or 0) > 32)
    work = _Work(statics, unbounded, long)
    work.body(body, ())
    for r in returns:
        if not isinstance(r, eq.Version):
            work.value(r, ())  # type: ignore[arg-type]
    grown = ", ".join(dict.fromkeys(work.grown))
    said = [f"{grown}: taken to fit 32 bits (64 with jax_enable_x64)"] if grown else []
    return work.found(), said


def _named(node: eq.Expr) -> str:
    """An integer for a message: what it is, where that can be read."""
    text = render_expr(node)
    return text if len(text) <= _LONGEST else "an index"


class _Work:
    def __init__(self, statics: set[eq.Param], unbounded: bool, long: frozenset[str]) -> None:
        self.statics, self.unbounded = statics, unbounded
        self.long = long  # arrays of integers of 64 bits
        self.bounds: dict[Poly, eq.Expr] = {}
        self.powers: dict[eq.Expr, eq.Expr] = {}
        self.grown: list[str] = []  # integers of which each round of a loop makes a multiple

    def found(self) -> list[Check]:
        """The checks, without those that another one implies."""
        out: list[Check] = []
        for bound, node in self.bounds.items():
            if any(other is not bound and _covers(other, bound) for other in self.bounds):
                continue
            fits: eq.Expr = eq.Op("lt", (to_expr(bound), eq.Const(LIMIT, INT)), BOOL)
            if node.type.bits is None:
                fits = eq.Op("or", (WIDE, fits), BOOL)
            hint = "" if node.type.bits else ": it needs jax_enable_x64"
            out.append((fits, f"{_named(node)} may not fit 32 bits{hint}"))
        for fits, node in self.powers.items():
            text = f"{_named(node)} may not fit 32 bits: it needs jax_enable_x64"
            out.append((eq.Op("or", (WIDE, fits), BOOL), text))
        return out

    # --- statements

    def body(self, body: tuple[eq.Stmt, ...], env: Env) -> None:
        for stmt in body:
            match stmt:
                case eq.Write(axes=axes, subscripts=subscripts, value=value, where=where):
                    own = (*env, *((a.name, a) for a in axes))
                    for s in subscripts:
                        self.visit(s, own, True)
                    # into an array of its width, or there is a cast; bits are combined with those of an integer
                    fits = not self.unbounded and stmt.after.array not in self.long
                    self.visit(value, own, fits or stmt.accumulate in BITWISE)
                    if where is not None:
                        self.value(where, own)
                case eq.Fold(axis=axis, scalars=scalars, outputs=outputs, condition=condition):
                    inner = env if axis is None else (*env, (axis.name, axis))
                    for c in scalars:
                        if self.unbounded and c.type is INT and _grows(c.update):
                            self.grown.append(c.name.strip("$").partition(".")[0])
                        self.value(c.init, (*env, *((a.name, a) for a in c.axes)))
                        self.value(c.update, (*inner, *((a.name, a) for a in c.axes)))
                    for o in outputs:
                        self.value(o.value, (*inner, *((a.name, a) for a in o.axes)))
                    if condition is not None:
                        self.value(condition, inner)
                    self.body(stmt.body, inner)

    def value(self, root: eq.Expr, env: Env) -> None:
        self.visit(root, env, False)

    def visit(self, root: eq.Expr, env: Env, wraps: bool) -> None:
        """Notes the values below ``root`` that must fit; ``wraps``: of the root itself the low bits do."""
        stack: list[tuple[eq.Expr, Env, bool]] = [(root, env, wraps)]
        seen = set(stack)
        while stack:
            node, around, low = stack.pop()
            if not low and self.concerns(node):
                self.note(node, dict(around))
            for below in _below(node, around, low):
                if below not in seen:
                    seen.add(below)
                    stack.append(below)

    def concerns(self, node: eq.Expr) -> bool:
        """Whether the width of a node's value is not that of its source."""
        if not isinstance(node, eq.Op) or (node.name not in _RING and not _is_power(node)):
            sums = isinstance(node, eq.Reduce) and node.op == "add"
            return sums and self.unbounded and node.type is INT
        if self.unbounded:
            return node.type is INT and bool(free_indices(node))
        return node.type is UINT32 and any(leaf.type is INT and free_indices(leaf) for leaf in _leaves(node))

    def note(self, node: eq.Expr, env: dict[str, eq.Axis]) -> None:
        bound = self.most(node, env)
        if bound is not None and not _fits(bound):
            self.bounds.setdefault(bound, node)
        if bound is None and self.unbounded:
            for power in filter(_is_power, (node, *_leaves(node, (*_RING, "floordiv", "mod")))):
                self.power(power, env)

    def power(self, node: eq.Expr, env: dict[str, eq.Axis]) -> None:
        """Notes ``a << i`` and ``2 ** i``, whose exponent the sizes bound."""
        assert isinstance(node, eq.Op)
        base, exponent = (self.most(a, env) for a in node.args)
        if base is None or exponent is None or self.most(node, env) is not None:
            return
        if (
            base.value is not None
            and exponent.value is not None
            and (base.value << exponent.value if node.name == "shl" else base.value**exponent.value) < LIMIT
        ):
            return
        fits = eq.Op("lt", (eq.Op(node.name, (to_expr(base), to_expr(exponent)), INT), eq.Const(LIMIT, INT)), BOOL)
        self.powers.setdefault(fits, node)

    # --- bounds

    def most(self, node: eq.Expr, env: dict[str, eq.Axis]) -> Poly | None:
        """A sum of sizes that the value's magnitude does not exceed; None where data decides."""
        match node:
            case eq.Const(value=value):
                return Poly({(): abs(int(value.real))})
            case eq.Shape():
                return to_poly(node)
            case eq.Param():
                if node not in self.statics:
                    return None
                return to_poly(node) if _counts(node) else to_poly(eq.Op("abs", (node,), INT))
            case eq.Index(name=name):
                return self.index(env[name]) if name in env else None
            case eq.Cast(arg=arg):
                return self.most(arg, env)
            case eq.Op(name="add" | "sub", args=(a, b)):
                return _sum(self.most(a, env), self.most(b, env))
            case eq.Op(name="mul", args=(a, b)):
                return _product(self.most(a, env), self.most(b, env))
            case eq.Op(name="shl", args=(a, eq.Const(value=int() as by))) if 0 <= by < 63:
                return _product(self.most(a, env), Poly({(): 2**by}))
            case eq.Op(name="neg" | "abs", args=(a,)):
                return self.most(a, env)
            case eq.Op(name="mod" | "tmod", args=(_, eq.Const(value=int() as by))):
                return Poly({(): abs(by)})
            case eq.Op(name="floordiv" | "tdiv" | "shr", args=(a, eq.Const(value=int() as by))) if by > 0:
                return self.most(a, env)
            case eq.Op(name="and_", args=(_, eq.Const(value=int() as by))) if by >= 0:
                return Poly({(): by})
            case eq.Op(name="select", args=(_, a, b)) | eq.Op(name="min" | "max", args=(a, b)):
                return _either(self.most(a, env), self.most(b, env))
            case eq.Reduce(op="add", axes=axes, body=body):
                total = self.most(body, env | {a.name: a for a in axes})
                for axis in axes:
                    total = _product(total, self.index(axis))
                return total
            case eq.Reduce(op="min" | "max", axes=axes, body=body):
                return self.most(body, env | {a.name: a for a in axes})
        return None

    def index(self, axis: eq.Axis) -> Poly | None:
        """What the index stays below; and there are not more of it."""
        start, stop = to_poly(axis.lo), to_poly(axis.hi)
        if start.value is not None and start.value >= 0:
            if all(isinstance(a, eq.Shape) or _counts(a) for a in stop.atoms()) or stop.terms.keys() <= _alone(stop):
                return Poly({m: c for m, c in stop.terms.items() if c > 0})
            return self.most(axis.hi, {})
        return _sum(self.most(axis.lo, {}), self.most(axis.hi, {}))


def _below(node: eq.Expr, env: Env, low: bool) -> Iterator[tuple[eq.Expr, Env, bool]]:
    """The operands of a node, and of which only the low 32 bits matter."""
    match node:
        case eq.Op(name=name, args=args) if name in _RING and node.type.is_integer:
            # a value that fits has parts whose wrapping does no harm
            for a in args:
                yield a, env, True
        case eq.Op(name=name, args=args) if low and name in (*BITWISE, "invert"):
            for a in args:
                yield a, env, True
        case eq.Op(name="select", args=(c, a, b)):
            yield c, env, False
            yield a, env, low
            yield b, env, low
        case eq.Op(name="mod" | "and_" | "tmod", args=(a, eq.Const(value=int() as by))) if _mask(node.name, by):  # type: ignore
            yield a, env, True
        case eq.Read(subscripts=subscripts):
            for s in subscripts:
                yield s, env, True
        case eq.Cast(type=kind, arg=arg):
            yield arg, env, kind.is_integer and kind.bits is not None and kind.bits <= 32
        case eq.Reduce() | eq.ArgReduce() | eq.Scan():
            inner = tuple((dict(env) | {a.name: a for a in axes_of(node)}).items())
            for c in children(node):
                yield c, inner, False
        case _:
            for c in children(node):
                yield c, env, False


def _alone(stop: Poly) -> set[tuple[eq.Expr, ...]]:
    """The terms of ``n + 3``, which is above zero where a range that ends there has any number."""
    (atom, *others) = stop.atoms() or (None,)
    plain = isinstance(atom, eq.Param) and not others and stop.terms.get((atom,)) == 1
    return {(), (atom,)} if plain and atom is not None else set()


def _fits(bound: Poly) -> bool:
    """Whether a value is a few lengths (of arrays, of a launch), or a number."""
    lengths = {m: c for m, c in bound.terms.items() if m}
    if any(len(m) > 1 and not all(map(of_launch, m)) for m in lengths):
        return False
    return sum(lengths.values()) <= _SMALL and bound.offset < LIMIT // 2


def _grows(update: eq.Expr) -> bool:
    """Whether a product of carried integers makes the next one, or their remainder by what is no power of two."""
    stack: list[tuple[eq.Expr, Env, bool]] = [(update, (), False)]
    seen = set(stack)
    while stack:
        node, _, low = stack.pop()
        products = isinstance(node, eq.Op) and node.name in ("mul", "shl") and node.type is INT
        if products and not low and any(isinstance(n, eq.CarryIn) and n.type is INT for n in topological((node,))):
            return True
        sums = isinstance(node, eq.Op) and node.name in _RING and not low
        for below, env, lower in _below(node, (), low):
            entry = (below, env, lower and not sums)
            if entry not in seen:
                seen.add(entry)
                stack.append(entry)
    return False


def _leaves(node: eq.Expr, through: tuple[str, ...] = _RING) -> Iterator[eq.Expr]:
    """What sums, differences and products are made of."""
    stack = [node]
    while stack:
        top = stack.pop()
        if isinstance(top, eq.Op) and top.name in through and (top is node or not _is_power(top)):
            stack += top.args
        else:
            yield top


def _is_power(node: eq.Expr) -> bool:
    """Whether indices say how far a number is shifted, or to which power it is taken."""
    return (
        isinstance(node, eq.Op)
        and node.name in ("shl", "pow")
        and node.type is INT
        and bool(free_indices(node.args[1]))
    )


def _mask(name: str, by: int) -> bool:
    if name == "and_":
        return by >= 0
    return name == "mod" and by > 0 and by & (by - 1) == 0


def _counts(atom: eq.Expr) -> bool:
    """Whether it is a parameter that is never negative."""
    return isinstance(atom, eq.Param) and (atom.type.kind == "uint" or of_launch(atom))


def _sum(a: Poly | None, b: Poly | None) -> Poly | None:
    return None if a is None or b is None else a + b


def _product(a: Poly | None, b: Poly | None) -> Poly | None:
    return None if a is None or b is None else a * b


def _either(a: Poly | None, b: Poly | None) -> Poly | None:
    """A bound of both."""
    if a is None or b is None:
        return None
    if _covers(a, b):
        return a
    return b if _covers(b, a) else a + b


def _covers(a: Poly, b: Poly) -> bool:
    """Whether ``a >= b`` for all sizes from 1 on; they are sums of products of sizes."""
    gap = a - b
    return all(c >= 0 for m, c in gap.terms.items() if m) and sum(gap.terms.values()) >= 0


def _bounds(body: tuple[eq.Stmt, ...]) -> Iterator[eq.Expr]:
    for s in body:
        match s:
            case eq.Write(axes=axes, view=view):
                yield from view
            case eq.Fold(axis=axis):
                axes = (axis,) if axis is not None else ()
                yield from _bounds(s.body)
            case _:
                axes = ()
        for a in axes:
            yield from (a.lo, a.hi)
