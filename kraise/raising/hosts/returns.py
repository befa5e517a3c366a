"""A host function with one return, its last statement.

A return in a loop becomes a flag, a break and the same return behind the loop, where nothing has changed since; a
return in a branch makes what follows the other branch. Then both branches end with a return, and what they return gets
names: numbers are assigned, arrays are copied to new memory, which nothing else points to.

A parameter that is returned by its own name is its memory, also where other names for it have moved.

Side condition, checked: all returns give as many values, and arrays and numbers at the same places.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from kraise.diagnostics import refuse
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Memory, flat
from kraise.ir.host_names import set_within
from kraise.ir.types import BOOL, NUMBER

Body = tuple[h.Stmt, ...]


def with_one_return(body: Body, fresh: Callable[[str], str]) -> Body:
    """The body with no return but its last statement. Raises Refused (KR211)."""
    if not any(has_return(s) for s in body[:-1]) and not (body and h.children(body[-1])):
        return body
    found = _merged(_loops(body, fresh), fresh)
    if found and isinstance(found[-1], h.Return) and not found[-1].values:
        return found[:-1]
    return found


def own_memory(host: h.Host) -> set[str]:
    """The parameters that are returned by their own names and point to nothing else, where other names may point to
    their memory: it is what comes back, wherever such names have moved."""
    memory = Memory(host.body)
    given = {p.name for p in host.params} - set_within(host.body)
    back = {v.array for v in h.returned(host.body) if isinstance(v, k.ArrayRef) and v.offset is None}
    return {n for n in given & back if n in memory.same or n in memory.same.values()}


def left_behind(host: h.Host, written: Collection[str], memory: Collection[str]) -> str:
    """The doc of a function, with the parameters that it changes and does not give back (a Python function gives back
    the arrays that it returns, and no others)."""
    returns = [s for s in flat(host.body) if isinstance(s, h.Return)]
    back = {v.array for r in returns for v in r.values if isinstance(v, k.ArrayRef)} - set_within(host.body)
    lost = [p.name for p in host.params if p.name in set(written) - set(memory) - back]
    known = len(returns) == 1 and not host.owner  # of several returns copies come back, of methods all that changes
    said = f"what it leaves in {', '.join(lost)} is not among its results" if lost and known else ""
    return "\n\n".join(x for x in (host.doc.strip(), said) if x)


def has_return(stmt: h.Stmt) -> bool:
    """Does a statement return, itself or in its blocks?"""
    return isinstance(stmt, h.Return) or any(has_return(s) for block in h.children(stmt) for s in block)


def _loops(body: Body, fresh: Callable[[str], str]) -> Body:
    """The block with no return inside of a loop."""
    out: list[h.Stmt] = []
    for at, stmt in enumerate(body):
        if not has_return(stmt) or isinstance(stmt, h.Return):
            out.append(stmt)
        elif isinstance(stmt, h.If):
            out.append(replace(stmt, body=_loops(stmt.body, fresh), orelse=_loops(stmt.orelse, fresh)))
        elif isinstance(stmt, h.For | h.While):
            inner = _loops(stmt.body, fresh)
            returns = _returns(inner)
            following = body[at + 1] if at + 1 < len(body) else None
            if following is not None and all(r == following for r in returns):
                out.append(replace(stmt, body=_broken(inner, {})))
                continue
            flags = {id(r): fresh("returned") for r in returns}
            out += [h.Assign(f, k.Const(False, BOOL), BOOL, span=stmt.span) for f in flags.values()]
            out.append(replace(stmt, body=_broken(inner, flags)))
            out += [h.If(k.Var(flags[id(r)], BOOL), (r,), span=r.span) for r in returns]
    return tuple(out)


def _returns(body: Body) -> list[h.Return]:
    out: list[h.Return] = []
    for stmt in body:
        if isinstance(stmt, h.Return):
            out.append(stmt)
        for block in h.children(stmt):
            out += _returns(block)
    return out


def _broken(body: Body, flags: dict[int, str]) -> Body:
    """The block with a break, and its flag set, for each return."""
    out: list[h.Stmt] = []
    for stmt in body:
        if isinstance(stmt, h.Return):
            if id(stmt) in flags:
                out.append(h.Assign(flags[id(stmt)], k.Const(True, BOOL), BOOL, span=stmt.span))
            out.append(h.Break(span=stmt.span))
            break
        if isinstance(stmt, h.If):
            stmt = replace(stmt, body=_broken(stmt.body, flags), orelse=_broken(stmt.orelse, flags))
        out.append(stmt)
    return tuple(out)


def _merged(body: Body, fresh: Callable[[str], str]) -> Body:
    """The block with at most one return, at its end."""
    for at, stmt in enumerate(body):
        if isinstance(stmt, h.Return):
            return body[: at + 1]
        if not isinstance(stmt, h.If) or not has_return(stmt):
            continue
        rest = body[at + 1 :]
        then, orelse = (_merged((*side, *rest), fresh) for side in (stmt.body, stmt.orelse))
        (first, one), (second, two) = _parted(then), _parted(orelse)
        if one.values == two.values:
            return (*body[:at], *_if(stmt, first, second), one)
        kinds = [tuple(isinstance(v, k.ArrayRef | h.Whole) for v in r.values) for r in (one, two)]
        if kinds[0] != kinds[1]:
            reason = "two returns of this function give different kinds of values"
            raise refuse("KR211", reason, (one.span if one.span else two.span), "return as many values, in one order")
        names = [fresh("result" if len(kinds[0]) == 1 else f"result_{n + 1}") for n in range(len(kinds[0]))]
        lines: tuple[list[h.Stmt], list[h.Stmt]] = ([*first], [*second])
        values: list[h.Expr | k.ArrayRef] = []
        for name, a, b in zip(names, one.values, two.values, strict=True):
            for side, value, returned in zip(lines, (a, b), (one, two), strict=True):
                if isinstance(value, k.ArrayRef):
                    side.append(h.Bind(name, h.Whole(value.array, value.offset), span=returned.span))
                else:
                    kind = getattr(value, "type", NUMBER)
                    side.append(h.Assign(name, value, kind, span=returned.span))
            is_array = isinstance(a, k.ArrayRef)
            values.append(k.ArrayRef(name) if is_array else k.Var(name, getattr(a, "type", NUMBER)))
        last = h.Return(tuple(values), span=two.span)
        return (*body[:at], *_if(stmt, tuple(lines[0]), tuple(lines[1])), last)
    return body


def _parted(body: Body) -> tuple[Body, h.Return]:
    """A block without its return, and that."""
    if body and isinstance(body[-1], h.Return):
        return body[:-1], body[-1]
    return body, h.Return()


def _if(stmt: h.If, then: Body, orelse: Body) -> Body:
    return (replace(stmt, body=then, orelse=orelse),) if then or orelse else ()
