"""Tables of numbers that a function holds (``const int dx[4] = {1, 0, -1, 0};``) as constants of the module.

A local array whose initializer is numbers, that nothing stores to and that is subscripted by what is not a number, is
the same for every thread and every round: as a constant it is a table that is looked up, not an array of each thread.
"""

from __future__ import annotations

from dataclasses import replace
from math import isfinite, prod
from struct import pack, unpack

from kraise.ir import kernel as k
from kraise.ir.rename import renamed, within


def with_tables(module: k.Module) -> k.Module:
    """``module`` with such arrays among its constants, under names that nothing else in the module has."""
    tables = {
        f.name: {a.name: t for a in within(f.body, k.LocalArray) if (t := _table(f, a))} for f in module.functions
    }
    if not any(tables.values()):
        return module
    used = {f.name: _names(f) - tables[f.name].keys() for f in module.functions}
    functions, constants = [], {c.name: c for c in module.constants}
    for f in module.functions:
        names: dict[str, str] = {}
        elsewhere = {g.name for g in (*module.functions, *module.hosts)}
        elsewhere |= {n for g in module.functions if g is not f for n in used[g.name]}
        for array in within(f.body, k.LocalArray):
            table = tables[f.name].get(array.name)
            if table is None:
                continue
            for name in (array.name, f"{f.name}_{array.name}"):
                found = constants.get(name)
                if name not in elsewhere and (found is None or _alike(found, table)):
                    names[array.name] = name
                    constants.setdefault(name, replace(table, name=name))
                    break
        functions.append(replace(f, body=renamed(_without(f.body, names), names)) if names else f)
    return replace(module, functions=tuple(functions), constants=tuple(constants.values()))


def _alike(a: k.Constant, b: k.Constant) -> bool:
    return (a.type, a.shape, a.values) == (b.type, b.shape, b.values)


def _names(f: k.Function) -> set[str]:
    """The names of parameters, locals and arrays of a function."""
    own = {p.name for p in f.params} | {s.name for s in within(f.body, k.LocalArray)}
    return own | {s.name for s in within(f.body, k.Assign)} | {s.var for s in within(f.body, k.For)}


def _table(f: k.Function, array: k.LocalArray) -> k.Constant | None:
    """The constant that a local array is; None if it is none."""
    values = [n for v in array.values if (n := _number(v)) is not None]
    shape = [n.value for n in array.shape if isinstance(n, k.Const) and type(n.value) is int]
    if array.space != "local" or not values or len(values) < len(array.values) or len(shape) < len(array.shape):
        return None
    size = prod(shape)
    if not 0 < len(values) <= size <= 4096 or array.element.bits is None and array.element.kind == "number":
        return None
    same = [a for a in within(f.body, k.LocalArray) if a.name == array.name]
    changed = [s for kind in (k.Store, k.Atomic) for s in within(f.body, kind) if s.array == array.name]
    passed = [a for a in within(f.body, k.ArrayRef) if a.array == array.name]
    shapes = [s for s in within(f.body, k.Shape) if s.array == array.name]
    loads = [e for e in within(f.body, k.Load) if e.array == array.name]
    moving = any(not isinstance(s, k.Const) for e in loads for s in e.subscripts)
    plain = all(len(e.subscripts) == len(shape) for e in loads)
    if len(same) > 1 or changed or passed or shapes or not moving or not plain:
        return None
    zero = type(values[0])(0)
    filled = (*values, *[zero] * (size - len(values)))
    return k.Constant(array.name, array.element, filled, tuple(shape), span=array.span)


def _number(e: k.Expr) -> bool | int | float | complex | None:
    """The number that an initializer is: ``4.f / 9`` is arithmetic of floats, each step but the last in their width."""
    if isinstance(e, k.Const):
        return e.value
    found = _quotient(e)
    return found if found is not None and isfinite(found) else None


def _quotient(e: k.Expr) -> float | None:
    match e:
        case k.Const(value=int() | float() as v):
            return float(v)
        case k.Cast(type=t, arg=k.Const(value=int() as v)) if t.kind == "float" and abs(v) < 1 << 24:
            return float(v)
        case k.Op(name=name, args=(a, *rest), type=t) if t.kind == "float" and t.bits in (32, 64):
            known = [x if x is None or t.bits == 64 else _single(x) for x in map(_quotient, (a, *rest))]
            match name, known:
                case "neg", [float() as x]:
                    return -x
                case "div", [float() as x, float() as y] if y:
                    return x / y
                case "mul", [float() as x, float() as y]:
                    return x * y
    return None


def _single(x: float) -> float:
    return float(unpack("f", pack("f", x))[0]) if abs(x) < 1e38 else x


def _without(body: tuple[k.Stmt, ...], names: dict[str, str]) -> tuple[k.Stmt, ...]:
    out: list[k.Stmt] = []
    for s in body:
        match s:
            case k.LocalArray(name=name) if name in names:
                continue
            case k.If(body=a, orelse=b):
                s = replace(s, body=_without(a, names), orelse=_without(b, names))
            case k.For(body=a, orelse=b) | k.While(body=a, orelse=b):
                s = replace(s, body=_without(a, names), orelse=_without(b, names))
        out.append(s)
    return tuple(out)
