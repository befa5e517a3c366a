"""What no result of a host function needs: statements whose names reach nothing that it returns.

``main`` checks what it computed against a loop of its own and prints whether they agree; that loop has no part in what
it returns. The order of statements is not looked at, so that what is left out is never needed: a name counts as needed
if a needed statement reads it anywhere, and so does each name that may point to the same memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace

from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_names import reads, sets

Stores = Mapping[str, tuple[bool, ...]]


def stored(function: k.Function) -> tuple[bool, ...]:
    """Which parameters a function may write, itself or by what it calls."""
    written: set[str] = set()
    stack: list = list(function.body)
    while stack:
        stmt = stack.pop()
        match stmt:
            case k.Store(array=array) | k.Atomic(array=array):
                written.add(array)
            case k.CallStmt(args=args):
                written |= {a.array for a in args if isinstance(a, k.ArrayRef)}
        for name in ("body", "orelse"):
            stack.extend(getattr(stmt, name, ()) or ())
    return tuple(any(w == p.name or w.startswith(p.name + ".") for w in written) for p in function.params)


class Memory:
    """Which names of a body may point to the same memory at some time: one name stands for all of them."""

    def __init__(self, body: tuple[h.Stmt, ...]):
        self.same: dict[str, str] = {}
        for stmt in flat(body):
            match stmt:
                case h.Point(names=names):
                    self._join({*names, *reads(stmt)})
                case h.Bind(view=True):
                    self._join(sets(stmt) | reads(stmt))

    def __call__(self, name: str) -> str:
        while self.same.get(name, name) != name:
            name = self.same[name]
        return name

    def _join(self, names: Iterable[str]) -> None:
        first, *rest = sorted({self(n) for n in names})
        for other in rest:
            self.same[other] = first


class Needed:
    """The names that the results of a body need. ``stores`` says of the functions that it calls which parameters they
    may write; of one that is not there all."""

    def __init__(self, body: tuple[h.Stmt, ...], stores: Stores):
        self.body, self.stores = body, stores
        self.memory = Memory(body)
        self.names: set[str] = set()
        while True:
            before = len(self.names)
            self._block(body)
            if len(self.names) == before:
                break

    def changes(self, stmt: h.Stmt) -> set[str]:
        """The memory of the names that a statement sets or whose memory it may change."""
        return {self.memory(n) for n in self.changed_names(stmt)}

    def changed_names(self, stmt: h.Stmt) -> set[str]:
        """The names that a statement sets, or by which it may change memory."""
        return sets(stmt) | stored_by(stmt, self.stores)

    def is_needed(self, stmt: h.Stmt) -> bool:
        """Does a result need the statement (or one inside it)?"""
        if isinstance(stmt, h.Return):
            return True
        inner = [s for block in h.children(stmt) for s in block]
        if any(isinstance(s, h.Return) for s in flat(inner)):
            return True
        return bool(self.changes(stmt) & self.names) or any(self.is_needed(s) for s in inner)

    def _block(self, body: tuple[h.Stmt, ...]) -> None:
        for stmt in body:
            if self.is_needed(stmt):
                self.names |= {self.memory(n) for n in reads(stmt)}
                for block in h.children(stmt):
                    self._block(block)
                    for s in block:  # what ends a loop that is needed
                        if any(isinstance(x, h.Break) for x in flat((s,))):
                            self.names |= {self.memory(n) for x in flat((s,)) for n in reads(x)}

    def kept(self, body: tuple[h.Stmt, ...], lost: Callable[[h.Stmt], None]) -> tuple[h.Stmt, ...]:
        """The statements that are needed; ``lost`` is told of the others."""
        out: list[h.Stmt] = []
        for stmt in body:
            breaks = any(isinstance(x, h.Break) for x in flat((stmt,))) and not isinstance(stmt, h.For | h.While)
            if not self.is_needed(stmt) and not breaks:
                lost(stmt)
                continue
            match stmt:
                case h.If(body=then, orelse=orelse) if not breaks:
                    out.append(replace(stmt, body=self.kept(then, lost), orelse=self.kept(orelse, lost)))
                case h.For(body=inner) | h.While(body=inner):
                    out.append(replace(stmt, body=self.kept(inner, lost)))
                case _:
                    out.append(stmt)
        return tuple(out)


def changed(host: h.Host, stores: Stores) -> tuple[bool, ...]:
    """Which parameters' memory a host function may change. ``stores`` says it of what it calls; of one that is not
    there all."""
    memory = Memory(host.body)
    written = {memory(n) for stmt in flat(host.body) for n in stored_by(stmt, stores)}
    return tuple(memory(p.name) in written for p in host.params)


def stored_by(stmt: h.Stmt, stores: Stores) -> set[str]:
    """The names by which a statement may change memory."""
    match stmt:
        case h.Update(array=array) | h.Store(array=array):
            return {array}
        case h.Launch(function=name, args=args) | h.CallHost(function=name, args=args):
            may = stores.get(name, ())
            return {array for at, a in enumerate(args) if at >= len(may) or may[at] for array in h.arrays_in(a)}
    return set()


def flat(body: Iterable[h.Stmt]) -> Iterator[h.Stmt]:
    """All statements of a block, those inside of others too."""
    for stmt in body:
        yield stmt
        for block in h.children(stmt):
            yield from flat(block)
