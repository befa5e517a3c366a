"""The dtypes of scalars that a loop with a condition, or with a branch that leaves them as they are, carries.

A round that runs no more gives back the state that it got (``lax.cond``, equinox's loop), and JAX asks that both sides
have one dtype. A number of Python's that starts such a scalar is 64 bits wide under x64, whatever the arrays are from
which the rounds compute it: it is given their dtype.
"""

from __future__ import annotations

from kraise.emit.hosts.expressions import HostText
from kraise.emit.hosts.statics import nodes, scalars
from kraise.emit.text import python as py
from kraise.emit.text.python import Atom, Py
from kraise.emit.text.spelling import dtype_text
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.operations import OPERATIONS
from kraise.ir.types import FLOAT, FLOAT32, ScalarType

_WIDTH_OF_OPERANDS = frozenset(("sum", "max", "min", "absolute", "abs"))


def dtype(text: HostText, host: o.Host, loop: o.Loop, name: str, kind: ScalarType) -> Py | None:
    """The dtype in which ``name``, of the source's type ``kind``, starts; None where it has it, or may stay a number of
    Python's."""
    inside = {id(v) for v in _values(loop.body, name)}
    before = [v for v in _values(host.body, name) if id(v) not in inside]
    if before and all(any(isinstance(n, h.Whole | k.Load | o.Call) for n in nodes(v)) for v in before):
        return None
    found = _sources(loop.body, name)
    arrays = list(dict.fromkeys(n.array for n in found if isinstance(n, h.Whole | k.Load)))
    if kind == FLOAT32 and not arrays and name in scalars(loop.condition):
        return Atom("jnp.float32")  # rounds are counted as the source counts them
    if text.x64 and kind.is_integer and kind.bits and any(map(_divides, found)):
        return Atom(dtype_text(kind))  # ``lax.div`` gives just this width
    if kind.kind == "bool" or not (arrays or any(isinstance(n, o.Call) for n in found)):
        return None
    if kind.bits is not None:
        return text.dtypes.get(kind) or Atom(dtype_text(kind))
    starts = dict(zip(loop.names, loop.initial, strict=True))
    made = {t for n in nodes(*loop.body) if isinstance(n, o.Let) for t in n.targets}
    outer = [starts.get(a, h.Whole(a)) for a in arrays if a in starts or a not in made]
    outer = outer or [g for a in arrays for g in _given(loop, a, made)]
    if not outer:
        return _of_new(loop, arrays)
    own = py.Attr(text.expr(outer[0]), "dtype")
    return py.call("jnp.result_type", own, Atom("float")) if any(map(_makes_floats, found)) else own


def passes_through(body: tuple[o.Stmt, ...], name: str) -> bool:
    """Does one side of a branch leave a scalar as it is, and the other compute it?"""
    for stmt in body:
        match stmt:
            case o.Branch(body=one, orelse=other, values=values, others=others):
                kept = [isinstance(v, k.Var) and v.name == name for v in (*values, *others)]
                if any(kept) or passes_through((*one, *other), name):
                    return True
            case o.Loop(body=inner) if passes_through(inner, name):
                return True
    return False


def _given(loop: o.Loop, array: str, made: set[str]) -> list[h.Whole]:
    """The array from before the loop that each round's launch overwrites as ``array``, of its dtype."""
    calls = [v for v in _values(loop.body, array) if isinstance(v, o.Call)]
    found = [a for c in calls for a in c.args if isinstance(a, h.Whole) and a.array not in {*made, *loop.names}]
    return found if len(dict.fromkeys(found)) == 1 else []


def _of_new(loop: o.Loop, arrays: list[str]) -> Py | None:
    """The dtype of arrays that each round makes with one of their own (``device_array(1, np.float32)``)."""
    kinds = {v.element for a in arrays for v in _values(loop.body, a) if isinstance(v, o.New)}
    made = all(any(isinstance(v, o.New) for v in _values(loop.body, a)) for a in arrays)
    kind = kinds.pop() if made and len(kinds) == 1 else None
    return Atom(dtype_text(kind)) if kind is not None and kind.bits is not None else None


def keeps_time(loop: o.Loop) -> bool:
    """Does a float that is made of Python's numbers alone (``t += 0.1``) tell when the loop ends? It is a double: in 32
    bits another number of rounds may run."""
    starts = dict(zip(loop.names, loop.initial, strict=True))
    for name in scalars(loop.condition) & set(starts):
        found = [*_sources(loop.body, name), starts[name]]
        if any(isinstance(n, h.Whole | k.Load | o.Call | h.Library) for n in found):
            continue
        if any(isinstance(n, k.Const) and n.type == FLOAT for n in found):
            return True
    return False


def _divides(node: object) -> bool:
    return isinstance(node, k.Op) and node.name in ("tdiv", "tmod")


def _makes_floats(node: object) -> bool:
    """Is an expression a float, whatever its operands are?"""
    match node:
        case k.Const(value=value):
            return isinstance(value, float)
        case h.Library(name=name):
            return name not in _WIDTH_OF_OPERANDS
        case k.Op(name=name):
            return OPERATIONS[name].result == "inexact"
    return False


def _sources(body: tuple[o.Stmt, ...], name: str) -> list[object]:
    """The nodes of the expressions that a round computes a scalar from, through its other scalars."""
    seen: set[str] = set()
    found: list[object] = []
    waiting = [name]
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue
        seen.add(at)
        for node in [n for v in _values(body, at) for n in nodes(v)]:
            found.append(node)
            if isinstance(node, k.Var):
                waiting.append(node.name)
    return found


def _values(body: tuple[o.Stmt, ...], name: str) -> list[o.Value]:
    """What the statements bind a variable to."""
    found: list[o.Value] = []
    for stmt in body:
        match stmt:
            case o.Let(targets=targets, value=value) if name in targets:
                found.append(value)
            case o.Loop(body=inner):
                found += _values(inner, name)
            case o.Branch(names=names, body=one, orelse=other) if name in names:
                at = names.index(name)
                found += [stmt.values[at], stmt.others[at], *_values((*one, *other), name)]
            case o.Branch(body=one, orelse=other):
                found += _values((*one, *other), name)
    return found
