"""Names of a Python host function that see the memory of another array (``v = x[2:5]``, ``t = x.T``).

NumPy's slices are views; in Host IR such a name has memory of its own (``Bind`` with ``view``). The two are the same
as long as neither changes while the other is used after it: checked here, over the statements in order, loops run
until nothing new is found. Names that may point to one array (by ``Point``) count as one.
"""

from __future__ import annotations

from collections.abc import Mapping

from kraise.diagnostics import Span, refuse
from kraise.ir import host as h
from kraise.ir import hosted as o
from kraise.ir import kernel as k
from kraise.ir.host_names import expression_names, reads
from kraise.raising.hosts.effects import Function

FRESH, BASE, VIEW = "neither", "base", "view"  # what has changed since the name was bound
Found = frozenset[tuple[str, str, str]]  # (view, base, what has changed)


def check(host: h.Host, functions: Mapping[str, Function], hosts: Mapping[str, o.Host]) -> None:
    """Refused (KR211) where a name and the array that it sees would come apart."""
    if any(b.view for b in _binds(host.body)):
        _Sharing(host, functions, hosts).run()


class _Sharing:
    def __init__(self, host: h.Host, functions: Mapping[str, Function], hosts: Mapping[str, o.Host]):
        self.host, self.functions, self.hosts = host, functions, hosts
        self.params = {p.name for p in host.params}
        self.one: dict[str, str] = {}  # name -> a name of its group
        self._join(host.body)

    def run(self) -> None:
        end, _ = self.block(self.host.body, frozenset())
        self.used(self.params, end, self.host.span)

    def block(self, body: tuple[h.Stmt, ...], found: Found) -> tuple[Found, Found]:
        """What is known at the end of a block, and at any place in it (a break may leave it there)."""
        ever = found
        for stmt in body:
            self.used(reads(stmt), found, stmt.span)
            match stmt:
                case h.If(body=then, orelse=orelse):
                    (one, first), (two, second) = self.block(then, found), self.block(orelse, found)
                    found, ever = one | two, ever | first | second
                case h.For(body=inner) | h.While(body=inner):
                    while True:
                        _, within = self.block(inner, found)
                        if within <= found:
                            break
                        found |= within
                case h.Return():
                    self.used(self.params, found, stmt.span)
                case _:
                    found = self.after(stmt, found)
            ever |= found
        return found, ever

    def after(self, stmt: h.Stmt, found: Found) -> Found:
        """What is known after a simple statement."""
        for name in self.changed(stmt):
            group = self.group(name)
            found |= {(v, b, BASE) for v, b, _ in found if self.group(b) == group}
            found |= {(v, b, VIEW) for v, b, _ in found if self.group(v) == group}
        if isinstance(stmt, h.Bind | h.Alloc):
            # what a view changed its base does not have, whatever the name is now
            found = frozenset(e for e in found if e[0] != stmt.name or e[2] == VIEW or len(self.members(stmt.name)) > 1)
        if isinstance(stmt, h.Bind) and stmt.view:
            base = _seen(stmt.value)
            before = f"{base} before" if base == stmt.name else base
            if before != base and base in self.params:
                self.params.add(before)
            found |= {(stmt.name, before, FRESH)}
        return found

    def changed(self, stmt: h.Stmt) -> set[str]:
        """The arrays whose memory a statement changes."""
        match stmt:
            case h.Update(array=array) | h.Store(array=array):
                return {array}
            case h.Launch(function=name, args=args):
                function = self.functions.get(name)
                written = None if function is None else function.written
                params = () if function is None else function.params
            case h.CallHost(function=name, args=args):
                called = self.hosts.get(name)
                written = None if called is None else called.written
                params = () if called is None else called.params
            case _:
                return set()
        if written is None:
            return {array for a in args for array in h.arrays_in(a)}
        pairs = zip(params, args, strict=False)
        return {array for p, a in pairs if p.name in written for array in h.arrays_in(a)}

    def used(self, names: set[str], found: Found, span: Span | None) -> None:
        """Refuses the use of a name that is not what the source has there."""
        groups = {self.group(n) for n in names}
        for view, base, what in sorted(found):
            if self.group(view if what == BASE else base) in groups and what != FRESH:
                reason = f"{view} sees the memory of {base.removesuffix(' before')}, which changes while both are used"
                raise refuse("KR211", reason, span, f"make {view} a copy (.copy()): slices of NumPy are views")

    def group(self, name: str) -> str:
        """The name that stands for all that may point where ``name`` points."""
        while name in self.one:
            name = self.one[name]
        return name

    def members(self, name: str) -> set[str]:
        """The names of a group."""
        names = {name, *self.one, *self.one.values()}
        return {n for n in names if self.group(n) == self.group(name)}

    def _join(self, body: tuple[h.Stmt, ...]) -> None:
        for stmt in body:
            if isinstance(stmt, h.Point):
                for name in {*stmt.names, *expression_names(stmt.sources)}:
                    one, other = self.group(name), self.group(stmt.names[0])
                    if one != other:
                        self.one[one] = other
            for block in h.children(stmt):
                self._join(block)


def _seen(e: object) -> str:
    """The array that a view is one of."""
    match e:
        case h.Whole(array=name) | k.Load(array=name):
            return name
        case h.Library(args=args):
            return _seen(args[0]) if args else ""
    return ""


def _binds(body: tuple[h.Stmt, ...]) -> list[h.Bind]:
    found: list[h.Bind] = []
    for stmt in body:
        found += [stmt] if isinstance(stmt, h.Bind) else []
        for block in h.children(stmt):
            found += _binds(block)
    return found
