"""Times that a CUDA C host function keeps in memory: ``t[i] = clock() - t0``, ``cudaEventElapsedTime(&ms[i], a, b)``.

A time has no part in the values, so memory that takes one is not followed: such a store leaves a mark, and nothing that
a result needs may read that memory, before or after. Other stores to it go with the mark. A parameter that takes times
stays as it was and is no result, of which a warning tells (KR216); what ``main`` only prints of them is no result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lark import Tree

from kraise.diagnostics import Diagnostic, Refused
from kraise.frontends.cuda_c.host_main import root
from kraise.frontends.cuda_c.trees import Node, kind, strip, tokens
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Memory, Needed, flat, stored
from kraise.ir.host_names import reads
from kraise.ir.types import INT32, ArrayType, ScalarType

CODE = "KR216"
MARK = "@time"
_WHAT = "what is not followed here (a time, input or an error code)"


def stored_to(reader: Any, target: Node, node: Node) -> list[h.Stmt]:
    """The mark of a store of a time to ``target``; none where that is a variable. Refused where it has no name here."""
    name, through = root(target)
    if not through:
        return []
    named = {str(t) for t in tokens(target)} & set(reader.arrays)
    if name not in reader.arrays and named:
        reason = f"a time is stored to `{reader.low.text(target)}`"
        raise reader.low.refuse("KR211", reason, node, "store it by the name of an array and a subscript")
    return [marked(name, reader.low.span(node))] if name in reader.arrays else []


def taken_by(reader: Any, what: str, args: list[Tree], node: Node) -> list[h.Stmt]:
    """The marks of the arrays that a call which is dropped (as ``what``) writes times, or facts of the device, to."""
    if what not in ("timing", "device choice"):
        return []
    names: dict[str, None] = {}
    for a in map(strip, args):
        inner: Any = strip(a.children[1]) if kind(a) == "unary_expression" and str(a.children[0]) == "&" else None  # type: ignore[union-attr]
        if inner is not None or what == "timing":
            name = root(a if inner is None else inner)[0]
            names |= {name: None} if name in reader.arrays else {}
    return [marked(n, reader.low.span(node)) for n in names]


def marked(name: str, span: Any) -> h.Stmt:
    """The mark of an array that takes a time."""
    return h.Update(name, h.Whole(name + MARK), span=span)


def without(reader: Any, body: tuple[h.Stmt, ...], params: list[k.Param]) -> tuple[h.Stmt, ...]:
    """The body without the memory that takes times. Raises Refused (KR211) where a result needs it."""
    marks = {name: s for s in flat(body) if (name := _mark(s))}
    if not marks:
        return body
    memory = Memory(body)
    stores = {f.name: stored(f) for f in (*reader.functions.values(), *reader.outlined)}
    plain = _asked(reader, body)
    timed = _copied(plain, memory, {memory(n): s for n, s in marks.items()}, Needed(plain, stores))
    if reader.name == "main":
        plain = tuple(s for s in plain if not isinstance(s, h.Return))
        _forget(reader, plain, timed, stores)
        results = [*reader.copied, *reader.managed, *reader.printed]
    else:
        given = [p.name for p in params if isinstance(p.type, ArrayType)]
        numbers = [n for n in reader.of_file if isinstance(reader.low.names.get(n), ScalarType)]
        results = [n for n in (*given, *reader.symbols, *numbers) if memory(n) not in timed]
        for name in (n for n in given if memory(n) in timed):
            reader.timed.add(name)
            _warn(reader, name, timed[memory(name)])
    needed = Needed((*plain, _given_back(results)), stores)
    for own, mark in timed.items():
        if own in needed.names:
            raise _refused(reader, own, mark)
    return tuple(_kept(body, needed, set(timed)))


def _copied(body: tuple[h.Stmt, ...], memory: Memory, timed: dict[str, h.Stmt], needed: Needed) -> dict[str, h.Stmt]:
    """The memory that takes times, that which takes nothing but numbers made of them (``t[0] = ms[0]``) too."""
    while True:
        of_times = dict[str, h.Stmt]()
        others = set[str]()
        for s in flat(body):
            made = isinstance(s, h.Store | h.Update) and any(memory(n) in timed for n in reads(s) - {s.array})
            for own in needed.changes(s) - timed.keys() if not isinstance(s, h.Alloc | h.Point) else ():
                of_times |= {own: s} if made else {}
                others |= set() if made else {own}
        new = {n: s for n, s in of_times.items() if n not in others}
        if not new:
            return timed
        timed = {**timed, **new}


def _forget(reader: Any, body: tuple[h.Stmt, ...], timed: dict[str, h.Stmt], stores: Any) -> None:
    """``main`` gives nothing back that is made of times; refused where that is all."""
    lost = False
    for names in (reader.copied, reader.printed, reader.managed):
        for name in list(names):
            found = timed.keys() & Needed((*body, _given_back([name])), stores).names
            if found:
                lost = True
                del names[name]
                if names is not reader.printed:
                    _warn(reader, name, timed[min(found)])
    if lost and not (reader.copied or reader.printed or reader.managed):
        raise _refused(reader, *next(iter(timed.items())))


def _given_back(names: list[str]) -> h.Stmt:
    return h.Return(tuple(k.ArrayRef(n) for n in names))


def _warn(reader: Any, name: str, mark: h.Stmt) -> None:
    reason = f"{name} takes {_WHAT}: it is no result of {reader.name}"
    hint = "measure outside of the function"
    reader.warned.append(Diagnostic(CODE, reason, mark.span, hint, reader.name, severity="warning"))


def _refused(reader: Any, name: str, mark: h.Stmt) -> Refused:
    reason = f"{name} takes {_WHAT}, and what is computed needs it"
    return Refused(Diagnostic("KR211", reason, mark.span, "pass the numbers in", reader.name))


def _kept(body: tuple[h.Stmt, ...], needed: Needed, timed: set[str]) -> Iterator[h.Stmt]:
    """The statements but those that change memory with times, and that no result needs."""
    for s in body:
        match s:
            case h.If(body=then, orelse=orelse):
                yield replace(s, body=tuple(_kept(then, needed, timed)), orelse=tuple(_kept(orelse, needed, timed)))
            case h.For(body=inner) | h.While(body=inner):
                yield replace(s, body=tuple(_kept(inner, needed, timed)))
            case h.Alloc() | h.Point() | h.Return():
                yield s
            case _ if not needed.changes(s) & timed or needed.is_needed(s):
                yield s


def _asked(reader: Any, body: tuple[h.Stmt, ...]) -> tuple[h.Stmt, ...]:
    """The body without what calls of other hosts take for times alone: these do not read it for a result."""
    out: list[h.Stmt] = []
    for s in body:
        match s:
            case h.CallHost(function=name, args=args) if places := reader.host_timed.get(name):
                out.append(
                    replace(s, args=tuple(k.Const(0, INT32) if at in places else a for at, a in enumerate(args)))
                )
            case h.If(body=then, orelse=orelse):
                out.append(replace(s, body=_asked(reader, then), orelse=_asked(reader, orelse)))
            case h.For(body=inner) | h.While(body=inner):
                out.append(replace(s, body=_asked(reader, inner)))
            case _:
                out.append(s)
    return tuple(out)


def _mark(stmt: h.Stmt) -> str:
    match stmt:
        case h.Update(array=name, value=h.Whole(array=source)) if source == name + MARK:
            return name
    return ""
