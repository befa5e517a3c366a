"""C's arithmetic as operations of Kernel IR: conversions, truncating division, lazy logic, boolean conditions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeGuard

from kraise.diagnostics import Span
from kraise.frontends.cuda_c import numbers
from kraise.frontends.cuda_c.c_types import Array, CType, Pointer, Reference, Struct, Void, describe
from kraise.frontends.cuda_c.declarations import Declarations
from kraise.frontends.cuda_c.doubles import in_doubles
from kraise.frontends.cuda_c.trees import Node
from kraise.frontends.cuda_c.values import Group, Lambda, NoValue, PointerValue, StructValue, Text
from kraise.ir.kernel import Cast, Const, Expr, Hw, Op, Var
from kraise.ir.types import BOOL, FLOAT32, FLOAT64, INT32, INT64, UINT32, ScalarType

_RING = frozenset(("add", "sub", "mul", "and_", "or_", "xor", "neg", "invert"))
_COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
_BINARY = {"+": "add", "-": "sub", "*": "mul", "&": "and_", "|": "or_", "^": "xor", "<<": "shl", ">>": "shr"}
_NO_SCALAR = (PointerValue, StructValue, NoValue, Lambda, Group, Text)


def cast(e: Expr, t: ScalarType) -> Expr:
    """``e`` converted to ``t``; conversions that cannot change a value vanish or move to the leaves.

    Addition, subtraction and multiplication wrap, so that taking the low bits commutes with them: ``(int)(a + b)`` of
    unsigned operands is ``(int)a + (int)b``. Not so where an int would overflow, which C leaves undefined: a product
    with a large number keeps its type until it is converted.
    """
    source = e.type
    if source == t:
        return e
    if isinstance(e, Const):
        try:
            known = numbers.convert(e, t)
        except Exception:
            return Cast(t, e, span=e.span)
        return replace(known, name=e.name if known.value == e.value else "", span=e.span)
    if t.is_integer and source.is_integer:
        if isinstance(e, Hw) and (t.bits or 64) >= (16 if e.kind in ("thread", "blockDim") else 32):
            return replace(e, type=t)  # a block has 1024 threads at most
        narrower = (t.bits or 64) <= (source.bits or 64)
        if narrower and isinstance(e, Op) and e.name in _RING and not (t.kind == "int" and _large_factor(e)):
            return Op(e.name, tuple(cast(a, t) for a in e.args), t, span=e.span)
        if narrower and isinstance(e, Op) and e.name == "shl" and _small(e.args[1], t):
            return Op("shl", (cast(e.args[0], t), cast(e.args[1], t)), t, span=e.span)
        if not narrower and _of_extents(e):  # the threads of a launch: no launch has more than the narrow type holds
            return Op(e.name, tuple(cast(a, t) for a in e.args), t, span=e.span)
        if isinstance(e, Cast) and narrower and e.arg.type.is_integer:
            return cast(e.arg, t)
    if isinstance(e, Op) and e.name == "select" and t != BOOL:
        c, a, b = e.args
        return Op("select", (c, cast(a, t), cast(b, t)), t, span=e.span)
    return Cast(t, e, span=e.span)


def _large_factor(e: Op) -> bool:
    """Whether it is a product with a number that no array's rows are as long as."""
    return e.name == "mul" and any(isinstance(a, Const) and abs(a.value) > 1 << 20 for a in e.args)  # type: ignore[arg-type]


def _leaves(e: Expr) -> list[Expr]:
    """What a sum or a product is made of; nothing for anything else."""
    if not isinstance(e, Op) or e.name not in (*_RING, "shl"):
        return []
    return [n for a in e.args for n in _leaves(a.arg if isinstance(a, Cast) else a) or [a]]


def _of_ints(e: Expr) -> bool:
    """Whether an unsigned sum or product is one of ints that are converted, and of literals: no subscript, which has an
    unsigned index or size in it."""
    if isinstance(e, Op) and e.name in _RING:
        return all(map(_of_ints, e.args))
    return isinstance(e, Const) or (isinstance(e, Cast) and e.arg.type == INT32)


def _small(e: Expr, t: ScalarType) -> bool:
    return isinstance(e, Const) and 0 <= e.value < (t.bits or 64)  # type: ignore[operator]


def _of_extents(e: Expr) -> TypeGuard[Op]:
    """``blockDim.x * gridDim.x``, in any order and of any axes."""
    if not isinstance(e, Op) or e.name != "mul":
        return False
    return all(_of_extents(a) or (isinstance(a, Hw) and a.kind in ("blockDim", "gridDim")) for a in e.args)


def signed(e: Expr) -> Expr:
    """An unsigned subscript as a signed one: they differ only where the access is out of range anyway.

    C promotes what is narrower than an int: 200 in an ``unsigned char`` stays 200.
    """
    if e.type.kind == "uint":
        return cast(e, ScalarType("int", max(32, e.type.bits or 64)))
    return cast(e, INT32) if e.type.kind == "bool" else e


def add_offsets(a: Expr | None, b: Expr | None) -> Expr | None:
    """The sum of two subscripts, None standing for 0."""
    if a is None or (isinstance(a, Const) and a.value == 0):
        return b
    if b is None or (isinstance(b, Const) and b.value == 0):
        return a
    a, b = signed(a), signed(b)
    t = INT64 if INT64 in (a.type, b.type) else INT32
    if isinstance(b, Const) and b.value < 0 and not b.name:  # type: ignore[operator]
        return Op("sub", (cast(a, t), Const(-b.value, t)), t, span=a.span or b.span)  # type: ignore[operator]
    return Op("add", (cast(a, t), cast(b, t)), t, span=a.span or b.span)


class Arithmetic(Declarations):
    """Values to values."""

    def rvalue(self, v: Any, node: Node | None = None) -> Expr:
        """A scalar expression. Raises Refused (KR104) for anything else."""
        if isinstance(v, PointerValue):
            raise self.refuse("KR104", "a pointer is used as a number", node, "subscript it")
        if isinstance(v, _NO_SCALAR) or v is None:
            raise self.refuse(
                "KR104", f"`{self.text(node) if node is not None else ''}` has no number as its value", node
            )
        return v

    def convert(self, value: Any, to: CType, node: Node | None = None) -> Any:
        """``value`` as C converts it to type ``to`` on assignment, a call or a cast."""
        if isinstance(to, Reference):
            return self.convert(value, to.to, node)
        if isinstance(to, ScalarType):
            if to == BOOL:
                return self.condition(value, node)
            if isinstance(value, PointerValue) and to.is_integer:
                raise self.refuse("KR104", "a pointer is converted to an integer", node)
            if isinstance(value, StructValue) and len(value.fields) == 1:
                return self.convert(value.fields[0][1], to, node)
            e = self.rvalue(value, node)
            if to.kind == "int" and e.type.is_integer and e.type != to and _leaves(e) and self._of_data_alone(e):
                return Cast(to, e, span=e.span)  # may wrap: a sum or product of the type that it becomes may not
            if (e.type, to) == (UINT32, INT32) and isinstance(e, Op) and _of_ints(e):
                return self._wrapping(e)
            return cast((in_doubles(e, self.program.doubles) if to.is_integer else None) or e, to)
        if isinstance(to, Struct):
            if isinstance(value, StructValue):
                if value.type.name == to.name or [n for n, _ in value.type.members] == [n for n, _ in to.members]:
                    fields = tuple((n, self.convert(value.field(n), t, node)) for n, t in to.members)
                    return StructValue(to, fields)
            elif to.vector and not isinstance(value, _NO_SCALAR):
                fields = tuple((n, self.convert(value, t, node)) for n, t in to.members)
                return StructValue(to, fields)
        if isinstance(to, Pointer | Array) and isinstance(value, PointerValue):
            return value
        if isinstance(to, Pointer) and isinstance(value, Const) and value.value == 0:
            return PointerValue("", (), None, to.to)
        if isinstance(value, StructValue):
            found = self.converted(value, to, node)
            if found is not None:
                return found
        if isinstance(to, Void):
            return value if to.name != "void" else NoValue()
        raise self.refuse(
            "KR104", f"`{self.text(node) if node is not None else ''}` cannot become {describe(to)}", node
        )

    def _of_data_alone(self, e: Expr) -> bool:
        """Whether arithmetic is one of what arrays hold and of literals: it wraps as its type says (``(int)((unsigned)s
        + (unsigned)x[j])``), where that of indices and sizes stays within what an int holds."""
        leaves = [n for n in _leaves(e) if not isinstance(n, Const)]
        return bool(leaves) and all(map(self.has_data, leaves))

    def _wrapping(self, e: Expr) -> Expr:
        """An unsigned sum or product as one of ints that may wrap: what it combines of arrays stays converted to
        unsigned and back, which says so to the sum of all rounds (``s = (int)((unsigned)s + (unsigned)x[j])``)."""
        if isinstance(e, Op) and e.name in _RING and not _large_factor(e):
            return Op(e.name, tuple(self._wrapping(a) for a in e.args), INT32, span=e.span)
        wraps = isinstance(e, Cast) and (self.has_data(e.arg) or (isinstance(e.arg, Var) and e.arg.name in self.given))
        return Cast(INT32, e, span=e.span) if wraps else cast(e, INT32)

    def converted(self, value: StructValue, to: CType, node: Node | None) -> Any:
        """What a conversion function of the struct makes of it, None if it has none to ``to``."""
        raise NotImplementedError

    def condition(self, value: Any, node: Node | None = None) -> Expr:
        """A value as a truth value."""
        if isinstance(value, PointerValue):
            if value.arms is None:
                return Const(not is_null(value), BOOL)
            chosen, first, second = value.arms
            return self._chosen(chosen, self.condition(first), self.condition(second), None)
        e = self.rvalue(value, node)
        if e.type == BOOL:
            return e
        if isinstance(e, Const):
            return Const(bool(e.value), BOOL, span=e.span)
        if isinstance(e, Cast) and e.arg.type == BOOL:
            return e.arg
        if isinstance(e, Op) and e.name == "select":
            c, a, b = e.args
            return Op("select", (c, self.condition(a), self.condition(b)), BOOL, span=e.span)
        return Op("ne", (e, Const(0.0 if e.type.is_inexact else 0, e.type)), BOOL, span=e.span)

    def literal(self, c: Const) -> Const:
        """A literal; an unsuffixed one is a float where no double takes part in the function."""
        if c.type != FLOAT64 or self.wide:
            return c
        self.program.doubles.add((c.value, c.span))
        return replace(c, type=FLOAT32)

    def binary(self, symbol: str, a: Any, b: Any, span: Span | None = None, node: Node | None = None) -> Any:
        """``a symbol b`` for scalars, pointers and CUDA's vector types."""
        if isinstance(a, PointerValue) or isinstance(b, PointerValue):
            return self.pointer_arithmetic(symbol, a, b, span, node)
        if isinstance(a, StructValue) or isinstance(b, StructValue):
            return self.vector_arithmetic(symbol, a, b, span, node)
        x, y = self.rvalue(a, node), self.rvalue(b, node)
        if symbol in ("&&", "||"):
            return Op("and" if symbol == "&&" else "or", (self.condition(x), self.condition(y)), BOOL, span=span)
        if symbol in ("<<", ">>"):
            t = numbers.promote(x.type)
            if not t.is_integer or not numbers.promote(y.type).is_integer:
                raise self.refuse("KR104", f"`{symbol}` needs integers", node)
            return Op(_BINARY[symbol], (cast(x, t), cast(y, t)), t, span=span)
        if x.type == BOOL and y.type == BOOL and symbol in ("&", "|", "^", "==", "!="):
            if symbol in ("&", "|"):  # of two truth values: what && and || give, both sides evaluated
                return Op("and_" if symbol == "&" else "or_", (x, y), BOOL, span=span)
            return Op("eq" if symbol == "==" else "ne", (x, y), BOOL, span=span)
        t = numbers.common(x.type, y.type)
        x, y = cast(x, t), cast(y, t)
        if symbol in _COMPARISONS:
            test = Op(_COMPARISONS[symbol], (x, y), BOOL, span=span)
            return (in_doubles(test, self.program.doubles) if t == FLOAT32 else None) or test
        if symbol == "/":
            return Op("tdiv" if t.is_integer else "div", (x, y), t, span=span)
        if symbol == "%":
            if not t.is_integer:
                raise self.refuse("KR104", "`%` needs integers", node, "use fmod for floats")
            return Op("tmod", (x, y), t, span=span)
        if symbol in ("&", "|", "^") and not t.is_integer:
            raise self.refuse("KR104", f"`{symbol}` needs integers", node)
        if symbol in ("+", "-") and isinstance(y, Const) and y.value == 0 and not y.name and t.is_integer:
            return x
        return Op(_BINARY[symbol], (x, y), t, span=span)

    def unary(self, symbol: str, v: Any, span: Span | None = None, node: Node | None = None) -> Any:
        """``-v``, ``+v``, ``~v``, ``!v``."""
        if isinstance(v, StructValue) and v.type.vector and symbol in "+-":
            return StructValue(v.type, tuple((n, self.unary(symbol, x, span, node)) for n, x in v.fields))
        if symbol == "!":
            c = self.condition(v, node)
            if isinstance(c, Const):
                return Const(not c.value, BOOL, span=span)
            if isinstance(c, Op) and c.name == "ne" and isinstance(c.args[1], Const) and c.args[1].value == 0:
                return replace(c, name="eq", span=span)
            return Op("not", (c,), BOOL, span=span)
        x = self.rvalue(v, node)
        t = numbers.promote(x.type)
        x = cast(x, t)
        if symbol == "+":
            return x
        if isinstance(x, Const) and not x.name:
            c = numbers.wrap(-x.value if symbol == "-" else ~int(x.value), t)  # type: ignore[operator,arg-type]
            return replace(c, span=span)
        if symbol == "~" and not t.is_integer:
            raise self.refuse("KR104", "`~` needs an integer", node)
        return Op("neg" if symbol == "-" else "invert", (x,), t, span=span)

    def select(self, c: Expr, a: Any, b: Any, span: Span | None = None, node: Node | None = None) -> Any:
        """``c ? a : b``."""
        if isinstance(c, Const):
            return a if c.value else b
        if isinstance(a, StructValue) and isinstance(b, StructValue):
            pairs = zip(a.fields, b.fields, strict=True)
            return StructValue(a.type, tuple((n, self.select(c, x, y, span)) for (n, x), (_, y) in pairs))
        if isinstance(a, PointerValue) and isinstance(b, PointerValue):
            same = a.array == b.array and a.prefix == b.prefix and a.target is b.target is a.arms is b.arms is None
            if same:
                zero = Const(0, INT32)
                offset = self.select(c, signed(a.offset or zero), signed(b.offset or zero), span)
                return replace(a, offset=offset)
            return replace(a, arms=(c, a, b))
        if isinstance(a, NoValue) and isinstance(b, NoValue):
            return a
        x, y = self.rvalue(a, node), self.rvalue(b, node)
        t = x.type if x.type == y.type else numbers.common(x.type, y.type)
        return Op("select", (c, cast(x, t), cast(y, t)), t, span=span)

    def vector_arithmetic(self, symbol: str, a: Any, b: Any, span: Span | None, node: Node | None) -> Any:
        """Componentwise, as CUDA's helper_math.h has it (a struct of the user's own has its own operators)."""
        whole = a if isinstance(a, StructValue) else b
        same = not (isinstance(a, StructValue) and isinstance(b, StructValue)) or len(a.fields) == len(b.fields)
        if symbol not in ("+", "-", "*", "/") or not whole.type.vector or not same:
            raise self.refuse(
                "KR103",
                f"no operator{symbol} for {whole.type.name} is defined in this file",
                node,
                "write the members out",
            )
        fields = []
        for k, (n, t) in enumerate(whole.type.members):
            x = a.fields[k][1] if isinstance(a, StructValue) else a
            y = b.fields[k][1] if isinstance(b, StructValue) else b
            fields.append((n, self.convert(self.binary(symbol, x, y, span, node), t)))
        self.note("KR103", f"operators of {whole.type.name} are componentwise, as in helper_math.h", node)
        return StructValue(whole.type, tuple(fields))

    def pointer_arithmetic(self, symbol: str, a: Any, b: Any, span: Span | None, node: Node | None) -> Any:
        """``p + i``, ``p - i``, comparisons with null."""
        if symbol == "+" and isinstance(b, PointerValue) and not isinstance(a, PointerValue):
            a, b = b, a
        if isinstance(a, PointerValue) and not isinstance(b, PointerValue) and symbol in ("+", "-"):
            step = signed(self.rvalue(b, node))
            if symbol == "-":
                step = self.unary("-", step, span)
            return self._moved(a, step, node)
        if symbol in _COMPARISONS and isinstance(a, PointerValue):
            other = b if isinstance(b, PointerValue) else PointerValue("", (), None, a.to)
            found = self._compared(symbol, a, other, span, node)
            if found is not None:
                return found
        elif symbol == "-" and isinstance(a, PointerValue) and isinstance(b, PointerValue) and _in_one_array(a, b):
            zero = Const(0, INT32)
            first, second = signed(a.offset or zero), signed(b.offset or zero)
            apart = self.binary(symbol, cast(first, INT64), second, span, node)
            return apart if a.packed <= 0 else self.binary("/", apart, Const(a.packed, INT64), span, node)
        raise self.refuse("KR299", f"`{symbol}` on these pointers is not raised", node)

    def _compared(
        self, symbol: str, a: PointerValue, b: PointerValue, span: Span | None, node: Node | None
    ) -> Expr | None:
        """What a comparison of two pointers gives, of each arm where a condition chooses them. None: not known."""
        for p, swap in ((a, False), (b, True)):
            if p.arms is not None:
                c, x, y = p.arms
                first, second = (self._compared(symbol, *((a, q) if swap else (q, b)), span, node) for q in (x, y))
                return None if first is None or second is None else self._chosen(c, first, second, span)
        if symbol in ("==", "!="):
            places = [not p.array and p.target is not None for p in (a, b)]
            apart = is_null(a) is not is_null(b) or places[0] is not places[1] or (a.array != b.array and a.to == b.to)
            if apart or (is_null(a) and is_null(b)):
                return Const(apart is (symbol == "!="), BOOL, span=span)
        if not _in_one_array(a, b):
            return None
        zero = Const(0, INT32)
        return self.binary(symbol, signed(a.offset or zero), signed(b.offset or zero), span, node)  # type: ignore[no-any-return]

    def _chosen(self, c: Expr, a: Expr, b: Expr, span: Span | None) -> Expr:
        """One of two truth values."""
        if isinstance(a, Const) and isinstance(b, Const):
            if a.value == b.value:
                return a
            return c if a.value else Op("not", (c,), BOOL, span=span)
        return self.select(c, a, b, span)  # type: ignore[no-any-return]

    def _moved(self, p: PointerValue, step: Expr, node: Node | None) -> PointerValue:
        if p.arms is not None:
            c, x, y = p.arms
            return replace(p, arms=(c, self._moved(x, step, node), self._moved(y, step, node)))
        if p.target is not None:
            raise self.refuse("KR104", "a pointer to a single variable is moved", node)
        if p.packed > 0:
            step = self.binary("*", step, Const(p.packed, INT32))
        return replace(p, offset=add_offsets(p.offset, step))


def is_null(p: PointerValue) -> bool:
    """Whether a pointer that no condition chooses points nowhere."""
    return not p.array and p.target is None and p.raw is None and p.arms is None


def _in_one_array(a: PointerValue, b: PointerValue) -> bool:
    """Whether two pointers count the same elements of one array."""
    same = a.array == b.array != "" and a.prefix == b.prefix and a.arms is b.arms is None
    return (
        same and a.target is b.target is None and (a.packed, a.stored, a.bytes_of) == (b.packed, b.stored, b.bytes_of)
    )


def is_simple(e: Any) -> bool:
    """A constant or a variable: may be written twice."""
    return isinstance(e, Const | Var | Hw) or (isinstance(e, Cast) and is_simple(e.arg))
