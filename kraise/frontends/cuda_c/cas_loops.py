"""The loop around atomicCAS that makes an atomic operation of any function: read back as the atomic that it is.

    old = *p;                          (float or double through its bits, or an integer)
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed ⊕ v);
    } while (assumed != old);

is an atomic ⊕, where v does not depend on the loop. So is the loop that ends as soon as nothing is left to do, the
greatest or the least value (``while (v > old) { … atomicCAS(p, assumed, v) }``), and the extremum of floats through
their bits, which are ordered like signed integers where they are positive and the other way round where negative:

    v >= 0 ? atomicMax((int *)p, bits(v)) : atomicMin((unsigned *)p, bits(v));

Where only signed integers are compared, v must not be negative: ``max_bits`` and ``min_bits`` leave that open.

What such an atomic or loop returns has no form: a later read of it is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from kraise.diagnostics import refuse
from kraise.frontends.cas_rounds import SIDES, TURNED, as_atomic, operation, plain, same
from kraise.frontends.cuda_c.copied import as_bits
from kraise.frontends.cuda_c.places import reads
from kraise.ir.kernel import Assign, Atomic, Break, Cast, Const, Expr, If, Load, Op, Stmt, Store, Var, While
from kraise.ir.types import INT32, ScalarType


def atomics(stmts: Sequence[Any]) -> list[Stmt]:
    """The statements with such loops as atomics. Raises Refused (KR299): an integer atomic on the bits of floats is
    none of these."""
    out = recognise(stmts)
    writes: dict[str, set[str]] = {}
    _writes(out, writes)
    out = [_ordered(s) for s in _without_looks(out, writes)]
    left = _left_over(out)
    if left is not None:
        reason = f"an atomic {left.name.split()[0]} on the bits of another type is not raised"
        raise refuse("KR299", reason, left.span, "use an array of that type")
    return out


def _writes(stmts: Sequence[Any], found: dict[str, set[str]]) -> None:
    """By array, the atomics that change it ("" for a plain store)."""
    for s in stmts:
        if isinstance(s, Store | Atomic):
            found.setdefault(s.array, set()).add(s.name if isinstance(s, Atomic) else "")
        for name in ("body", "orelse"):
            _writes(getattr(s, name, ()), found)


def _without_looks(stmts: Sequence[Any], writes: dict[str, set[str]]) -> list[Stmt]:
    """``if (v > *p) atomicMax(p, v)`` without the look: where nothing but such atomics changes ``p``, what is there
    only grows, and a v that is not beyond what was seen is not beyond what comes."""
    out: list[Stmt] = []
    for s in stmts:
        inner = {n: tuple(_without_looks(getattr(s, n), writes)) for n in ("body", "orelse") if getattr(s, n, ())}
        s = replace(s, **inner) if inner else s
        match s:
            case If(condition=condition, body=(Atomic(result="", values=(v,)) as atomic,), orelse=()):
                cell = Load(atomic.array, atomic.subscripts, atomic.type)
                name, a, b = _order(condition)
                side = SIDES.get(name if same(a, v) and same(b, cell) else TURNED.get(name, ""))
                seen = (same(a, v) and same(b, cell)) or (same(b, v) and same(a, cell))
                if seen and side == atomic.name and writes[atomic.array] == {side}:
                    s = atomic
        out.append(s)
    return out


def _order(condition: Any) -> tuple[str, Any, Any]:
    """A comparison of two values, turned round under a ``not`` (an unordered pair changes nothing either way)."""
    match condition:
        case Op(name="not", args=(inner,)):
            name, a, b = _order(inner)
            return {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}.get(name, ""), a, b
        case Op(name=name, args=(a, b)):
            return name, a, b
    return "", None, None


def _ordered(s: Any) -> Any:
    """Signed extrema of bits as such: they are those of the floats where the new value is not negative, which is asked
    where it is known."""
    inner = {n: tuple(map(_ordered, getattr(s, n))) for n in ("body", "orelse") if getattr(s, n, ())}
    if isinstance(s, Atomic) and s.name in (of_bits("max", INT32), of_bits("min", INT32)) and not s.result:
        return replace(s, name=f"{_named(s)[0]}_bits")
    return replace(s, **inner) if inner else s


def _left_over(stmts: Sequence[Any]) -> Atomic | None:
    """An integer atomic on the bits of floats that is none of these."""
    for s in stmts:
        if isinstance(s, Atomic) and " of " in s.name:
            return s
        for name in ("body", "orelse"):
            found = _left_over(getattr(s, name, ()))
            if found is not None:
                return found
    return None


def recognise(stmts: Sequence[Any]) -> list[Stmt]:
    """The statements with such loops as atomics, at every depth."""
    out: list[Any] = []
    for s in stmts:
        inner: dict[str, Any] = {}
        for name in ("body", "orelse"):
            if getattr(s, name, ()):
                inner[name] = tuple(recognise(getattr(s, name)))
        s = replace(s, **inner) if inner else s
        if isinstance(s, If | Atomic):
            out.append(_through_bits(s, out))
            continue
        found = (_atomic(out, s) or _extremum(out, s)) if isinstance(s, While) else None
        dropped = 1
        if found is None and isinstance(s, While):
            dropped, found = as_atomic(out, s) or (0, None)
        if found is None:
            out.append(s)
        else:
            del out[len(out) - dropped :]
            out += found
    return out


def _atomic(before: list[Any], loop: While) -> list[Any] | None:
    first = before[-1] if before else None
    body = list(loop.body)
    if not (loop.test_last and isinstance(first, Assign) and len(body) in (2, 3)):
        return None
    start, cas = body[0], body[1]
    if not (isinstance(start, Assign) and isinstance(cas, Atomic) and cas.name == "cas"):
        return None
    old, assumed = first.name, start.name
    result = cas.result
    if len(body) == 3:  # old = bits(result of the cas)
        last = body[2]
        if not (isinstance(last, Assign) and last.name == old and same(last.value, Var(result, cas.type))):
            return None
    elif result != old:
        return None
    if not (same(start.value, Var(old, first.type)) and _tests(loop.condition, assumed, old)):
        return None
    cell = Load(cas.array, cas.subscripts, cas.type)
    if not same(first.value, cell):
        return None
    compared = Var(assumed, start.type)
    if not same(cas.values[0], compared):
        return None
    found = operation(cas.values[1], compared) if plain(cas.values[1]).type == cas.type else None
    if found is None:
        return None
    name, value = found
    if reads(value, {old, assumed, result}, {cas.array}):
        return None
    if any(reads(s, {old, assumed, result}, {cas.array}) for s in cas.subscripts):
        return None
    made: list[Any] = [replace(cas, name=name, values=(value,), result=result if result != old else old)]
    if result != old:
        made.append(Assign(old, as_bits(Var(result, cas.type), first.type), first.type, span=first.span))
    elif first.type != cas.type:
        return None
    return made


def _extremum(before: list[Any], loop: While) -> list[Any] | None:
    """The loop that stores v as long as it is beyond what is there."""
    first = before[-1] if before else None
    if not isinstance(first, Assign) or not loop.body or not isinstance(loop.body[0], Assign):
        return None
    old, assumed = first.name, loop.body[0].name
    rest = list(loop.body[1:])
    end = rest[-1] if rest else None
    done = _leaves(end) and _tests(end.condition, assumed, old, "eq")  # the value was stored
    if done:
        rest.pop()
    leave = rest[0] if rest else None
    if _leaves(leave):  # do { assumed = old; if (assumed >= v) break; … } while (assumed != old)
        always = isinstance(loop.condition, Const) and bool(loop.condition.value)
        if not (_tests(loop.condition, assumed, old) and loop.test_last) and not (always and done):
            return None
        rest.pop(0)
        side = _compared(leave.condition, {old, assumed})
        side = None if side is None else ("max" if side[0] == "min" else "min", side[1])
    else:
        side = None if loop.test_last else _compared(loop.condition, {old})
    cas = rest[0] if rest else None
    if side is None or not (isinstance(cas, Atomic) and cas.name == "cas") or len(rest) > 2:
        return None
    op, v = side
    if len(rest) == 2 and not (
        isinstance(rest[1], Assign) and rest[1].name == old and same(rest[1].value, Var(cas.result, cas.type))
    ):
        return None
    if len(rest) == 1 and cas.result != old:
        return None
    cell = Load(cas.array, cas.subscripts, cas.type)
    stepped = same(loop.body[0].value, Var(old, first.type)) and same(first.value, cell)
    stores = same(cas.values[0], Var(assumed, first.type)) and same(cas.values[1], v)
    names = {old, assumed, cas.result}
    if not (stepped and stores) or any(reads(e, names, {cas.array}) for e in (v, *cas.subscripts)):
        return None
    if v.type != cas.type:
        return None
    return [replace(cas, name=op, values=(v,), result="")]


def _leaves(s: Any) -> TypeGuard[If]:
    return isinstance(s, If) and s.body == (Break(),) and not s.orelse


def _compared(condition: Any, held: set[str]) -> tuple[str, Any] | None:
    """``v > old`` as max and v (what is beyond the old value), ``v < old`` as min and v."""
    if not (isinstance(condition, Op) and condition.name in SIDES):
        return None
    a, b = condition.args
    for v, other, name in ((a, b, condition.name), (b, a, TURNED[condition.name])):
        if getattr(plain(other), "name", "") in held and isinstance(plain(other), Var) and not reads(v, held, set()):
            return SIDES[name], v
    return None


_BITS = {("max", "int", "min", "uint"): "max", ("min", "int", "max", "uint"): "min"}
_POSITIVE = frozenset({"abs", "exp", "sqrt", "cosh", "exp2", "hypot"})


def of_bits(operation: str, seen: ScalarType) -> str:
    """The provisional name of an integer atomic on the bits of floats."""
    return f"{operation} of {seen.kind} bits"


def _through_bits(s: Any, before: list[Any]) -> Any:
    """``s`` as an extremum of floats, if it is one through their bits."""
    if isinstance(s, Atomic):
        operation, _, kind = s.name.partition(" of ")
        if kind == "int bits" and operation in ("max", "min") and not s.result and _positive(s.values[0], before):
            return replace(s, name=operation)
        return s
    branches = [[x for x in b if isinstance(x, Atomic)] for b in (s.body, s.orelse)]
    if not all(len(b) == 1 for b in branches) or not all(isinstance(x, Atomic | Assign) for x in (*s.body, *s.orelse)):
        return s
    positive, condition = True, s.condition
    (first,), (second,) = branches
    match condition:
        case Op(name="ge", args=(v, zero)):
            pass
        case Op(name="lt", args=(v, zero)):
            positive = False
        case Op(name="not", args=(Op(name="signbit", args=(v,)),)):
            zero = Const(0, INT32)
        case Op(name="signbit", args=(v,)):
            positive, zero = False, Const(0, INT32)
        case _:
            return s
    if not positive:
        first, second = second, first
    name = _BITS.get((*_named(first), *_named(second)))
    zero = zero.arg if isinstance(zero, Cast) else zero
    alike = first.array == second.array and first.subscripts == second.subscripts
    plain = isinstance(zero, Const) and zero.value == 0 and first.values == second.values == (v,)
    return replace(first, name=name, result="") if name and alike and plain else s


def _named(a: Atomic) -> tuple[str, str]:
    operation, _, kind = a.name.partition(" of ")
    return operation, kind.partition(" ")[0]


def _positive(v: Expr, before: list[Any]) -> bool:
    if isinstance(v, Var):
        last = next((x for x in reversed(before) if getattr(x, "name", "") == v.name), None)
        return isinstance(last, Assign) and not isinstance(last.value, Var) and _positive(last.value, [])
    if isinstance(v, Op) and v.name == "mul":
        return v.args[0] == v.args[1]
    return isinstance(v, Op) and v.name in _POSITIVE


def _tests(condition: Any, assumed: str, old: str, how: str = "ne") -> bool:
    if not (isinstance(condition, Op) and condition.name == how):
        return False
    names = {getattr(plain(a), "name", "") for a in condition.args}
    return names == {assumed, old}
