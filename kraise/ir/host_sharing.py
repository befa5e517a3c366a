"""Names of a Python host function that see the memory of another array (``v = x[2:5]``, ``t = x.T``).

NumPy's slices are views; in Host IR such a name has memory of its own (``Bind`` with ``view``). The two are the same
as long as neither changes while the other is used after it: checked here, over the statements in order, loops run
until nothing new is found. Names that may point to one array (by ``Point``) count as one. Where they come apart,
:func:`synced` writes down what a view is: it is made anew before it is used, and put back when it changed.

Side conditions of that, checked: the view is made once and what it is made of stays (its array's name, the numbers of
its place); nothing else points to it; its elements have a place in the array (slices, rows, reshaped, ``.T``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from kraise.diagnostics import Refused, Span, refuse
from kraise.ir import host as h
from kraise.ir import kernel as k
from kraise.ir.host_live import Memory, flat, stored_by
from kraise.ir.host_names import expression_names, reads, sets
from kraise.ir.types import NUMBER

FRESH, BASE, VIEW = "neither", "base", "view"  # what has changed since the name was bound
Found = frozenset[tuple[str, str, str]]  # (view, base, what has changed)
Stores = Callable[[str], tuple[bool, ...] | None]  # which parameters a function may change, where that is known


def check(host: h.Host, stores: Stores) -> None:
    """Refused (KR211) where a name and the array that it sees would come apart."""
    if any(b.view for b in _binds(host.body)):
        _Sharing(host, stores).run()


def synced(host: h.Host, stores: Stores) -> h.Host:
    """The host function, views that would come apart made anew and put back; as it is where that cannot be."""
    for _ in range(sum(b.view for b in _binds(host.body))):
        sharing = _Sharing(host, stores)
        try:
            sharing.run()
        except Refused:
            memory = Memory(host.body)
            mine = {b.name: b for b in _binds(host.body) if b.view and memory(b.name) == memory(sharing.apart)}
            if not _stay(host, mine):
                return host
            host = replace(host, body=_Synced(host, mine, stores).block(host.body, set()))
            continue
        break
    return host


class _Sharing:
    def __init__(self, host: h.Host, stores: Stores):
        self.host, self.stores = host, stores
        self.apart = ""  # the view that comes apart
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
                    self.used(reads(stmt), found, stmt.span)  # its condition, in later rounds
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
            case h.Launch(function=name) | h.CallHost(function=name):
                return stored_by(stmt, {name: self.stores(name) or ()})
        return stored_by(stmt, {})

    def used(self, names: set[str], found: Found, span: Span | None) -> None:
        """Refuses the use of a name that is not what the source has there."""
        groups = {self.group(n) for n in names}
        for view, base, what in sorted(found):
            if self.group(view if what == BASE else base) in groups and what != FRESH:
                self.apart = view
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


# --- views that are made anew and put back


def _stay(host: h.Host, views: dict[str, h.Bind]) -> bool:
    """Are these views made once, of arrays and numbers that mean the same for as long as the views are used?"""
    times = Counter(n for stmt in flat(host.body) for n in sets(stmt))
    given = {p.name for p in host.params}
    pointed = {n for s in flat(host.body) if isinstance(s, h.Point) for n in {*s.names, *expression_names(s.sources)}}
    asked = {n for s in flat(host.body) if isinstance(s, h.While) for n in reads(s)}
    for name, bind in views.items():
        used = set(expression_names(bind.value))
        seen = views.get(_seen(bind.value))
        if _is_flat(bind.value) and seen is not None and not _is_flat(seen.value):
            return False  # NumPy copies what has no order of its own
        if times[name] != 1 or name in pointed | asked | given or _put_back(bind) is None or bind.element is not None:
            return False
        if any(times[n] > (n not in given) for n in used):
            return False
    return True


def _is_flat(e: object) -> bool:
    return isinstance(e, h.Library) and e.name in ("ravel", "reshaped")


class _Synced:
    """The statements of a function with some views made anew and put back."""

    def __init__(self, host: h.Host, views: dict[str, h.Bind], stores: Stores):
        self.views, self.stores = views, stores
        self.memory = Memory(host.body)

    def block(self, body: tuple[h.Stmt, ...], fresh: set[str]) -> tuple[h.Stmt, ...]:
        """The statements of a block; ``fresh`` are the views that are what they should be."""
        out: list[h.Stmt] = []
        for stmt in body:
            if isinstance(stmt, h.Bind) and self.views.get(stmt.name) is stmt:
                out += self.anew(stmt.name, fresh)
                continue
            written = self.changed(stmt)
            for name in sorted((reads(stmt) | written) & set(self.views)):
                out += self.anew(name, fresh)
            blocks = {f: self.block(getattr(stmt, f), set()) for f in ("body", "orelse") if hasattr(stmt, f)}
            out.append(replace(stmt, **blocks) if blocks else stmt)  # type: ignore[arg-type]
            touched = {self.memory(n) for n in written}
            fresh -= {v for v in self.views if blocks or self.memory(v) in touched}
            for name in sorted(written & set(self.views)):
                out += self.back(name)
                fresh.add(name)
        return tuple(out)

    def changed(self, stmt: h.Stmt) -> set[str]:
        """The names by which a statement changes memory."""
        name = stmt.function if isinstance(stmt, h.Launch | h.CallHost) else ""
        return stored_by(stmt, {name: self.stores(name) or ()} if name else {})

    def anew(self, name: str, fresh: set[str]) -> list[h.Stmt]:
        """The view as it is now."""
        if name in fresh:
            return []
        fresh.add(name)
        base = _seen(self.views[name].value)
        return [*(self.anew(base, fresh) if base in self.views else ()), replace(self.views[name], view=False)]

    def back(self, name: str) -> list[h.Stmt]:
        """The view put back to its place."""
        base = _seen(self.views[name].value)
        stored = _put_back(self.views[name])
        return [*([stored] if stored else ()), *(self.back(base) if base in self.views else ())]


def _put_back(bind: h.Bind) -> h.Update | None:
    """What puts a view back into its array; None where its elements have no place there."""
    own = h.Whole(bind.name, span=bind.span)
    base = h.Whole(_seen(bind.value), span=bind.span)
    match bind.value:
        case h.Whole(offset=offset, count=count, clamps=clamps):
            return h.Update(base.array, own, offset, count, clamps=clamps, span=bind.span)
        case h.Library(name="item", args=(h.Whole(offset=None, count=None), *places), jnp=text, shapes=shapes):
            where = re.sub(r"\{(\d)\}", lambda m: f"{{{int(m[1]) + 1}}}", text.removeprefix("{0}[").removesuffix("]"))
            return None if "None" in where else _put(base, own, where, tuple(places), tuple(n + 1 for n in shapes))
        case k.Load(subscripts=places):  # a row
            return _put(base, own, ", ".join(f"{{{n + 2}}}" for n in range(len(places))), places, ())
        case h.Library(name="ravel" | "reshaped", args=(h.Whole(offset=None, count=None), *_)):
            text = "{0}.reshape({1}.shape)"
            value = h.Library("reshaped", (own, base), NUMBER, True, text, f"d{text}", span=bind.span)
            return h.Update(base.array, value, span=bind.span)
        case h.Library(name="transpose", args=(h.Whole(offset=None, count=None),)):
            return h.Update(base.array, replace(bind.value, args=(own,)), span=bind.span)
    return None


def _put(
    base: h.Whole, own: h.Whole, where: str, places: tuple[h.Expr, ...], shapes: tuple[int, ...]
) -> h.Update:  # fmt: skip
    value = h.Library(
        h.PUT, (base, own, *places), NUMBER, True, f"{{0}}.at[{where}].set({{1}})",
        f"put(d{{0}}, np.s_[{where}], d{{1}})", shapes=shapes,
        numpy=f"put({{0}}, np.s_[{where}], {{1}})", span=own.span,
    )  # fmt: skip
    return h.Update(base.array, value, span=own.span)
