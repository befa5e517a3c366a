"""Expressions of raised host functions as Python: static ones over Python's numbers, the others over jnp."""

from __future__ import annotations

from kraise.emit.hosts.library import fill_any
from kraise.emit.hosts.ranges import (
    ARITHMETIC,
    MODULAR,
    hashes,
    is_count,
    is_unsigned,
    leaves_range,
    wraps,
)
from kraise.emit.hosts.statics import Statics, nodes, scalars
from kraise.emit.text import python as py
from kraise.emit.text.names import identifier
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.spelling import dtype_text, fill, template
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import INT32, NUMBER, ArrayType, ScalarType

_STATIC_CALLS = {"min": "min", "max": "max", "abs": "abs", "round": "round"}


def whole(e: k.Expr) -> k.Expr | None:
    """The integer that a number is, by its form: itself, the one that is cast, or a constant; None for others."""
    match e:
        case k.Cast(arg=arg) if not e.type.is_integer:
            return whole(arg)
        case k.Const(value=float() as value) if value.is_integer() and not e.name:
            return k.Const(int(value), INT32)
    return e if e.type.is_integer or e.type == NUMBER else None


def _is_complex(e: k.Expr) -> bool:
    """Does an expression mention a complex number? ``math`` takes none."""
    return any(isinstance(n, k.Const) and isinstance(n.value, complex) for n in nodes(e))


class HostText:
    """The expressions of one host function. ``names`` maps variables to the emitted function's own."""

    def __init__(
        self,
        statics: Statics,
        names: dict[str, str],
        params: tuple[k.Param, ...] = (),
        counters: frozenset[str] = frozenset(),
        x64: bool = False,
    ):
        self.statics, self.names, self.x64 = statics, names, x64
        # the dtype of what the function makes follows that of an argument of the same element type
        self.dtypes: dict[ScalarType, Py] = {}
        for p in params:
            if isinstance(p.type, ArrayType) and p.type.element.is_inexact:
                self.dtypes.setdefault(p.type.element, py.Attr(Atom(names[p.name]), "dtype"))
        self.constants: set[str] = set()
        self.needs: set[str] = set()
        # what may be unsigned and has no dtype of its own: numbers that are given, and the rounds of loops
        self.given = counters | {p.name for p in params if isinstance(p.type, ScalarType)}
        self.wide: set[str] = set()  # static numbers that may be beyond the signed type of their size
        self.typed = False  # are numbers arrays of their own dtype, though the function knows them when it is traced?

    def number(self, e: h.Expr, target: str = "") -> Py:
        """The text of a value of a variable or of an argument: a number that wraps around is one of its own dtype."""
        if target in self.statics.names:
            if not leaves_range(e):
                return self.expr(e)
            self.wide.add(target)
            return self.within(e)
        if not isinstance(e, k.Const | k.Op | k.Cast) or not wraps(e.type):
            return self.expr(e)
        around, self.typed = self.typed, True
        try:
            text = self.expr(e)
        finally:
            self.typed = around
        alone = isinstance(e, k.Const) and not e.name and (target or e.value.real >= 2**31)
        return py.call(dtype_text(e.type), py.number(e.value)) if alone else text  # type: ignore[union-attr]

    def within(self, e: h.Expr) -> Py:
        """The text of a static number, within the range of its unsigned type where it may be outside of it."""
        text = self.expr(e)
        return py.Bin("%", text, Atom(f"2**{e.type.bits}")) if leaves_range(e) else text  # type: ignore[union-attr]

    def expr(self, e: h.Expr) -> Py:
        """The text of an expression."""
        match e:
            case k.Const(name=name) if name:
                self.constants.add(name)
                return Atom(identifier(name))
            case k.Const(value=value):
                return py.number(value)
            case k.Var(name=name):
                return Atom(self.names[name])
            case k.Load(array=array, subscripts=subscripts):
                return py.Sub(Atom(self.names[array]), tuple(self.expr(s) for s in subscripts))
            case k.Shape(array=array, axis=axis):
                return py.Sub(py.Attr(Atom(self.names[array]), "shape"), (py.number(axis),))
            case h.Whole():
                return self.whole(e)
            case h.Record(struct=struct, members=members) | h.Structs(struct=struct, members=members):
                return py.Call(Atom(identifier(struct.name)), tuple(self.expr(m) for m in members))  # type: ignore[arg-type]
            case h.Library():
                return self.library(e)
            case k.Cast():
                return self.cast(e)
            case k.Op(name="add", args=(k.Var() as a, b)) if a == b:
                # XLA's analysis of trip counts (jaxlib 0.10) aborts the process at `t = t + t` of a while loop
                return self.operation(k.Op("mul", (k.Const(2, e.type), a), e.type))
            case k.Op():
                return self.operation(e)
        raise TypeError(type(e).__name__)

    def whole(self, e: h.Whole) -> Py:
        """An array, or elements of it."""
        name = Atom(self.names[e.array])
        if e.offset is None and e.count is None:
            return name
        if e.offset is not None and e.count is not None and self.statics.starts_anywhere(e.offset):
            return py.call("jax.lax.dynamic_slice_in_dim", name, self.expr(e.offset), self.expr(e.count))
        return py.Sub(name, (self.slice(e.offset, e.count),))

    def slice(self, offset: k.Expr | None, count: k.Expr | None) -> py.Slice:
        """``offset : offset + count``."""
        low = self.expr(offset) if offset is not None else None
        if count is None:
            return py.Slice(low, None)
        if isinstance(offset, k.Const) and isinstance(count, k.Const):
            return py.Slice(low, py.number(offset.value.real + count.value.real))
        match count:
            case k.Op(name="sub", args=(end, start)) if start == offset:
                return py.Slice(low, self.expr(end))
        high = self.expr(count)
        return py.Slice(low, high if low is None else py.Bin("+", low, high))

    def library(self, e: h.Library) -> Py:
        """A library call by the spelling of its row."""
        args = [self.expr(a) for a in e.args]
        return fill_any(e.jnp, args)

    def cast(self, e: k.Cast) -> Py:
        """A conversion."""
        inner = self.expr(e.arg)
        if self.typed and wraps(e.type):
            if (e.type.bits or 64) < 32 and isinstance(e.arg, k.Var) and self.statics.is_known(e.arg):
                inner = py.call("jnp.int32", inner)  # JAX takes no number of Python's that does not fit
            return py.call(dtype_text(e.type), inner)
        if self.statics.is_known(e.arg) and scalars(e.arg) <= self.statics.names:
            if e.type.is_integer and e.arg.type.is_integer:
                return self.between(e, inner)
            if e.type.is_integer:
                rounded = isinstance(e.arg, k.Op) and e.arg.name in ("ceil", "floor", "floordiv", "round")
                return inner if rounded else py.call("int", inner)
            if e.type.is_inexact:
                return (
                    py.call("float", self.within(e.arg))
                    if not isinstance(e.arg, k.Const)
                    else py.number(float(e.arg.value.real))
                )
        if isinstance(e.arg, k.Const) and e.type.is_inexact and e.type.bits in (32, None):
            return py.number(float(e.arg.value.real))
        if e.type == NUMBER or (e.type.bits is None and e.type.is_inexact):
            return inner
        return py.call(dtype_text(e.type) if e.type.bits else "jnp.int32", inner)

    def between(self, e: k.Cast, inner: Py) -> Py:
        """The conversion of a static integer to another integer type. Sizes fit in 32 bits."""
        from_, to = e.arg.type, e.type
        assert isinstance(from_, ScalarType)
        if to.bits is None or not isinstance(e.arg, k.Op | k.Cast | k.Var):
            return inner
        if is_unsigned(from_) and to.bits > (from_.bits or 64):
            return self.within(e.arg)
        beyond = any(isinstance(n, k.Op) and hashes(n) for n in nodes(e.arg)) or scalars(e.arg) & self.wide
        narrow = to.bits < min(from_.bits or 64, 32)
        if to.kind == "uint" and narrow:
            return py.Bin("%", inner, Atom(f"2**{to.bits}"))
        if to.kind == "int" and (narrow or (beyond and is_unsigned(from_))):
            half = Atom(f"2**{to.bits - 1}")
            return py.Bin("-", py.Bin("%", py.Bin("+", inner, half), Atom(f"2**{to.bits}")), half)
        return inner

    def operation(self, e: k.Op) -> Py:
        """An operation of the table."""
        typed = self.typed and wraps(e.type)
        known = not typed and self.statics.is_known(e) and scalars(e) <= self.statics.names
        if known:
            found = self._static(e)
            if found is not None:
                return found
        if known and e.name not in MODULAR:
            args = [self.within(a) for a in e.args]
        else:
            args = [self.operand(a, known, e.name in ARITHMETIC and e.type) for a in e.args]
        row = OPERATIONS[e.name]
        if e.name in ("tdiv", "tmod") and is_unsigned(e.type):
            return py.Bin("//" if e.name == "tdiv" else "%", args[0], args[1])
        if e.name in ("tdiv", "tmod") and known:
            if all(map(is_count, e.args)):
                return py.Bin("//" if e.name == "tdiv" else "%", args[0], args[1])
            if e.name == "tmod":  # the sign is that of the dividend
                self.needs.add("math")
                return py.call("int", py.call("math.fmod", *args))
            return py.call("int", py.Bin("/", args[0], args[1]))
        if e.name in ("tdiv", "tmod") and self.x64 and e.type.bits:  # lax.div asks for one dtype: literals have 64 bits
            args = [self.of_type(a, text, e.type) for a, text in zip(e.args, args, strict=True)]
        if row.infix:
            found = py.Bin(row.infix, args[0], args[1])
            return py.Bin("%", found, Atom(f"2**{e.type.bits}")) if known and hashes(e) else found
        if e.name == "not" and not self.statics.is_array(e.args):  # ~ of Python's own True is -2
            return py.call("jnp.logical_not", args[0])
        if row.prefix:
            found = py.Un(row.prefix, args[0])
            return py.Bin("%", found, Atom(f"2**{e.type.bits}")) if known and hashes(e) else found
        return fill(template(row.jnp), args)

    def of_type(self, e: k.Expr, text: Py, t: ScalarType) -> Py:
        """A traced integer of just this type."""
        return text if isinstance(e, k.Cast) and e.type == t else py.call(dtype_text(t), text)

    def operand(self, e: k.Expr, known: bool, result: ScalarType | bool) -> Py:
        """An operand; one that a number of JAX's default type cannot hold has its own."""
        given = isinstance(e, k.Var) and e.name in self.given and is_unsigned(e.type)
        if given and not known and result == e.type:
            return py.call(dtype_text(e.type), self.expr(e))
        beyond = isinstance(e, k.Const) and e.type.kind == "uint" and not e.name and e.value.real >= 2**31
        return py.call(dtype_text(e.type), py.number(e.value)) if beyond and not known else self.expr(e)  # type: ignore[union-attr]

    def _static(self, e: k.Op) -> Py | None:
        """An operation over Python's numbers, None where the general spelling will do."""
        match e:
            case k.Op(name="ceil" | "floor" as name, args=(k.Op(name="div", args=(a, b)),)) if whole(a) and whole(b):
                over, by = (self.within(x) for x in (whole(a), whole(b)) if x is not None)
                return py.Un("-", py.Bin("//", py.Un("-", over), by)) if name == "ceil" else py.Bin("//", over, by)
            case k.Op(name="and" | "or" as word, args=(a, b)):
                return py.Bin(word, self.expr(a), self.expr(b))
            case k.Op(name="not", args=(a,)):
                return py.Un("not", self.expr(a))
            case k.Op(name="select", args=(c, a, b)):
                return py.IfExp(self.expr(c), self.expr(a), self.expr(b))
            case k.Op(name=name, args=args) if name in _STATIC_CALLS:
                return py.call(_STATIC_CALLS[name], *(self.within(a) for a in args))
            case k.Op(name="sqrt" | "log2" | "log" | "exp" | "ceil" | "floor" as name, args=(a,)) if not _is_complex(a):
                self.needs.add("math")
                return py.call(f"math.{name}", self.within(a))
        return None

    # --- values

    def value(self, value: o.Value, target: str = "") -> Py:
        """The text of a value, but for calls."""
        match value:
            case o.New():
                return self.new(value)
            case o.Put(base=base, value=inner, subscripts=subscripts, offset=offset, count=count):
                items = tuple(self.expr(s) for s in subscripts) if subscripts else (self.slice(offset, count),)
                if not subscripts and isinstance(inner, h.Whole) and count is None and offset is not None:
                    items = (self.slice(offset, None),)
                if offset is not None and count is not None and self.statics.starts_anywhere(offset):
                    whole = Atom(self.names[base]), self.part(inner, base, count), self.expr(offset)
                    return py.call("jax.lax.dynamic_update_slice_in_dim", *whole, axis=py.number(0))
                place = py.Sub(py.Attr(Atom(self.names[base]), "at"), items)
                return py.method(place, "set", self.expr(inner))
            case o.Cast(value=inner, element=element):
                return py.method(self.expr(inner), "astype", Atom(dtype_text(element)))
            case o.Rotated():
                return self.rotated(value)
        return self.expr(value)  # type: ignore[arg-type]

    def part(self, value: h.Expr, base: str, count: k.Expr) -> Py:
        """What a part of an array becomes, an array in any case."""
        if isinstance(value, h.Whole) or (isinstance(value, h.Library) and value.array):
            return self.expr(value)
        array = Atom(self.names[base])
        return py.call("jnp.full", self.expr(count), self.expr(value), py.Attr(array, "dtype"))

    def new(self, value: o.New) -> Py:
        """A new array; undefined contents are zeros."""
        dtype: Py | None = self.dtypes.get(value.element)
        if dtype is None and value.element != NUMBER:
            dtype = Atom(dtype_text(value.element))
        zero = value.fill is None or (isinstance(value.fill, k.Const) and value.fill.value == 0)
        one = isinstance(value.fill, k.Const) and value.fill.value == 1 and not isinstance(value.fill.value, bool)
        word = "zeros" if zero else "ones" if one else "full"
        fill_with = (self.expr(value.fill),) if value.fill is not None and word == "full" else ()
        if value.values:
            listed = py.Tup(tuple(self.expr(v) for v in value.values))
            return py.call("jnp.array", listed, *((dtype,) if dtype is not None else ()))
        if value.shape is None:
            like = Atom(self.names[value.like])
            extra = {"dtype": dtype} if dtype is not None else {}
            return py.call(f"jnp.{word}_like", like, *fill_with, **extra)
        if dtype is None and value.like:
            dtype = py.Attr(Atom(self.names[value.like]), "dtype")
        extents = tuple(self.expr(s) for s in value.shape)
        shape = extents[0] if len(extents) == 1 else py.Tup(extents)
        return py.call(f"jnp.{word}", shape, *fill_with, *((dtype,) if dtype is not None else ()))

    def results(self, values: list[h.Expr | o.Rotated]) -> Py:
        """What a function returns; arrays that moved by the same rounds are chosen together."""
        texts = [self.value(v) for v in values]
        if len(texts) == 1:
            return texts[0]
        together = all(isinstance(t, py.IfExp) and isinstance(v, o.Rotated) for t, v in zip(texts, values, strict=True))
        if together and len({v.rounds for v in values if isinstance(v, o.Rotated)}) == 1:
            odd, even = (py.Tup(tuple(getattr(t, w) for t in texts)) for w in ("then", "orelse"))
            return py.IfExp(texts[0].condition, odd, even)  # type: ignore[union-attr]
        return py.Tup(tuple(texts))

    def rotated(self, value: o.Rotated) -> Py:
        """One of several arrays, by the number of rounds."""
        rounds = self.expr(value.rounds)
        names = [Atom(self.names[v]) for v in value.variables]
        static = self.statics.is_known(value.rounds)
        if len(names) == 2:
            odd = py.Bin("%", rounds, py.number(2))
            if static:
                return py.IfExp(odd, names[1], names[0])
            return py.call("jnp.where", py.Bin("==", odd, py.number(1)), names[1], names[0])
        place = py.Bin("%", rounds, py.number(len(names)))
        if static:
            return py.Sub(py.Tup(tuple(names)), (place,))
        return py.call("jax.lax.select_n", place, *names)


__all__ = ["HostText", "ScalarType"]
