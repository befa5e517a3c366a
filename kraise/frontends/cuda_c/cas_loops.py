"""The loop around atomicCAS that makes an atomic operation of any function: read back as the atomic that it is.

    old = *p;                          (float or double through its bits, or an integer)
    do {
        assumed = old;
        old = atomicCAS(p, assumed, assumed ⊕ v);
    } while (assumed != old);

is an atomic ⊕, where v does not depend on the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kraise.frontends.cuda_c.places import as_bits, reads
from kraise.ir.kernel import Assign, Atomic, Cast, Expr, Load, Op, Stmt, Var, While
from kraise.ir.types import ScalarType

_ATOMICS = {"add": "add", "max": "max", "min": "min", "and_": "and", "or_": "or", "xor": "xor", "sub": "sub"}


def recognise(stmts: Sequence[Any]) -> list[Stmt]:
    """The statements with such loops as atomics, at every depth."""
    out: list[Any] = []
    for s in stmts:
        inner: dict[str, Any] = {}
        for name in ("body", "orelse"):
            if getattr(s, name, ()):
                inner[name] = tuple(recognise(getattr(s, name)))
        s = replace(s, **inner) if inner else s
        found = _atomic(out, s) if isinstance(s, While) else None
        if found is None:
            out.append(s)
        else:
            out.pop()
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
        if not (isinstance(last, Assign) and last.name == old and _same(last.value, Var(result, cas.type))):
            return None
    elif result != old:
        return None
    if not (_same(start.value, Var(old, first.type)) and _tests(loop.condition, assumed, old)):
        return None
    cell = Load(cas.array, cas.subscripts, cas.type)
    if not _same(first.value, cell):
        return None
    compared = Var(assumed, start.type)
    if not _same(cas.values[0], compared):
        return None
    operation = _operation(cas.values[1], compared, cas.type)
    if operation is None:
        return None
    name, value = operation
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


def _plain(e: Any) -> Any:
    """An expression without reinterpretations and conversions between integers of one width."""
    while (isinstance(e, Op) and e.name == "bits") or (
        isinstance(e, Cast) and e.type.is_integer and e.arg.type.is_integer and e.type.bits == e.arg.type.bits
    ):
        e = e.args[0] if isinstance(e, Op) else e.arg
    return e


def _same(a: Any, b: Any) -> bool:
    a, b = _plain(a), _plain(b)
    if isinstance(a, Var) and isinstance(b, Var):
        return a.name == b.name
    return a == b


def _tests(condition: Any, assumed: str, old: str) -> bool:
    if not (isinstance(condition, Op) and condition.name == "ne"):
        return False
    names = {getattr(_plain(a), "name", "") for a in condition.args}
    return names == {assumed, old}


def _operation(new: Expr, assumed: Var, t: ScalarType) -> tuple[str, Expr] | None:
    """(operation, other operand) if ``new`` is ``assumed ⊕ other``."""
    new = _plain(new)
    if not (isinstance(new, Op) and new.name in _ATOMICS and len(new.args) == 2 and new.type == t):
        return None
    a, b = new.args
    if _same(a, assumed):
        return _ATOMICS[new.name], b
    if _same(b, assumed) and new.name != "sub":
        return _ATOMICS[new.name], a
    return None
