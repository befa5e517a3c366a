"""One name for indices over one range: what a reduction computes for ``k`` and a store for ``j`` is then one value.

A reduction that an earlier one equals but for the names of its indices is that one: the mean that is stored and the
mean in what is stored next are computed once.
"""

from __future__ import annotations

from dataclasses import replace

from kraise.emit import tree
from kraise.emit.text.plainer import plainer
from kraise.ir import equations as eq


def canonical(kernel: eq.Kernel) -> eq.Kernel:
    """The kernel with bound indices renamed to those of the statement's own axes where the ranges are equal."""
    renamer = _Renamer(kernel)
    return replace(kernel, body=renamer.body(kernel.body), names=(*kernel.names, *renamer.names))


class _Renamer:
    def __init__(self, kernel: eq.Kernel):
        self.free = tree.Free()
        self.wishes: dict[eq.Expr, eq.Name] = {}
        for n in kernel.names:
            self.wishes.setdefault(n.expr, n)
        self.names: list[eq.Name] = []
        # by a reduction over numbered indices, and what it is there for, the one with names
        self.first: dict[tuple[eq.Expr, frozenset[eq.Axis]], eq.Expr] = {}

    def body(self, body: tuple[eq.Stmt, ...]) -> tuple[eq.Stmt, ...]:
        return tuple(self.statement(s) for s in body)

    def statement(self, stmt: eq.Stmt) -> eq.Stmt:
        match stmt:
            case eq.Write(axes=axes, value=value, where=where):
                memo: dict[eq.Expr, eq.Expr] = {}
                value = self.rename(value, axes, memo)
                where = None if where is None else self.rename(where, axes, memo)
                if value is stmt.value and where is stmt.where:
                    return stmt
                return replace(stmt, value=value, where=where)
            case eq.Fold():
                scalars = tuple(
                    replace(s, init=self.rename(s.init, s.axes, {}), update=self.rename(s.update, s.axes, {}))
                    for s in stmt.scalars
                )
                outputs = tuple(replace(o, value=self.rename(o.value, o.axes, {})) for o in stmt.outputs)
                return replace(stmt, scalars=scalars, body=self.body(stmt.body), outputs=outputs)
        return stmt

    def rename(self, node: eq.Expr, axes: tuple[eq.Axis, ...], memo: dict[eq.Expr, eq.Expr]) -> eq.Expr:
        """``node`` with the indices of its reductions renamed, innermost first."""
        if node in memo:
            return memo[node]
        parts = tree.children(node)
        new = {p: self.rename(p, axes, memo) for p in parts}
        out = tree.rebuilt(node, new)
        if isinstance(out, eq.Reduce):
            out = self._reduce(out, axes)
            out = self._shared(out, axes)
        out = plainer(out)
        memo[node] = out
        if out is not node and node in self.wishes:
            self.names.append(replace(self.wishes[node], expr=out))
        return out

    def _reduce(self, node: eq.Reduce, axes: tuple[eq.Axis, ...]) -> eq.Expr:
        own = list(node.axes)
        body, where = node.body, node.where
        for at, axis in enumerate(own):
            for other in axes:
                same = other.lo is axis.lo and other.hi is axis.hi and other.step == axis.step
                held = self.free(body) | (self.free(where) if where is not None else frozenset())
                if other.name == axis.name or not same or other.name in held or other.name in {a.name for a in own}:
                    continue
                if self._captures(body, other.name, axis.name) or (
                    where is not None and self._captures(where, other.name, axis.name)
                ):
                    continue
                body = self._substitute(body, axis.name, other.name)
                where = None if where is None else self._substitute(where, axis.name, other.name)
                own[at] = other
                break
        return eq.Reduce(node.op, tuple(own), body, where, node.type)

    def _shared(self, node: eq.Expr, axes: tuple[eq.Axis, ...]) -> eq.Expr:
        """The first reduction that is ``node`` but for names, for the same values of the same indices."""
        free = self.free(node)
        own = frozenset(a for a in axes if a.name in free)
        if not isinstance(node, eq.Reduce) or len(own) < len(free):
            return node
        return self.first.setdefault((self._numbered(node), own), node)

    def _numbered(self, node: eq.Reduce) -> eq.Expr:
        """A reduction with numbers as the names of its indices."""
        names = {a.name: f"#{at}" for at, a in enumerate(node.axes)}
        parts = (node.body,) if node.where is None else (node.body, node.where)
        indices: dict[eq.Expr, eq.Expr] = {}
        for part in tree.walk(*parts):
            if {a.name for a in tree.axes_of(part)} & names.keys():
                return node  # an index is bound again, or kept along
            if isinstance(part, eq.Index) and part.name in names:
                indices[part] = eq.Index(names[part.name], part.type)
        memo: dict[eq.Expr, eq.Expr] = {}
        body, *where = (tree.substitute(p, indices, memo) for p in parts)
        axes = tuple(replace(a, name=names[a.name]) for a in node.axes)
        return eq.Reduce(node.op, axes, body, where[0] if where else None, node.type)

    def _captures(self, body: eq.Expr, new: str, old: str) -> bool:
        """Whether something inside binds ``new`` around ``old``, or ranges over ``old`` by an axis of its own."""
        for part in tree.walk(body):
            if isinstance(part, eq.Scan | eq.CarryIn | eq.FoldResult):
                if old in {a.name for a in tree.axes_of(part)}:
                    return True
            elif new in {a.name for a in tree.axes_of(part)} and old in self.free(part):
                return True
        return False

    def _substitute(self, node: eq.Expr, old: str, new: str) -> eq.Expr:
        indices: dict[eq.Expr, eq.Expr] = {
            p: eq.Index(new, p.type) for p in tree.walk(node) if isinstance(p, eq.Index) and p.name == old
        }
        memo: dict[eq.Expr, eq.Expr] = {}
        out = tree.substitute(node, indices, memo, bound=old)
        for before, after in memo.items():
            if before is not after and before in self.wishes and after not in self.wishes:
                name = replace(self.wishes[before], expr=after)
                self.wishes[after] = name
                self.names.append(name)
        return out
