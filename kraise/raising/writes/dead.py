"""What nothing sees: writes whose cells are overwritten before they are read, or never read; folds whose results are
not used.

Raising.md, step 3: a value that no returned array and no later statement depends on is not computed. A loop that might
not end is dropped like any other; what a check says (``--checked``) is seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kraise.ir import equations as eq
from kraise.ir.walk import statement_expressions, topological

Stmts = tuple[eq.Stmt, ...]


def without_dead(stmts: Stmts, returned: frozenset[eq.Version], returns: Iterable[eq.Expr] = ()) -> Stmts:
    """``stmts`` without what neither the ``returned`` versions nor the values in ``returns`` depend on."""
    returns = tuple(returns)
    asked = returned | {n.version for n in topological(returns) if isinstance(n, eq.Read)}
    while True:
        fewer = _Seen(stmts, returned, returns).kept(_without_writes(stmts, asked))
        if fewer == stmts:
            return stmts
        stmts = fewer


# --- writes ------------------------------------------------------------------------------------


def _without_writes(stmts: Stmts, returned: frozenset[eq.Version]) -> Stmts:
    while True:
        count = readers(stmts)
        out: list[eq.Stmt] = []
        dropped: eq.Write | None = None
        for at, s in enumerate(stmts):
            if dropped is None and isinstance(s, eq.Write) and s.after not in returned and count.get(s.after, 0) <= 1:
                later = next((t for t in stmts[at + 1 :] if isinstance(t, eq.Write) and t.before is s.after), None)
                if s.after not in count or (later is not None and _overwrites(later, s)):
                    dropped = s
                    continue
            out.append(s)
        if dropped is None:
            return stmts
        stmts = tuple(
            replace(t, before=dropped.before) if isinstance(t, eq.Write) and t.before is dropped.after else t
            for t in out
        )


def readers(stmts: tuple[eq.Stmt, ...]) -> dict[eq.Version, int]:
    """How often each version is used: by reads, as the base of a write, by folds."""
    count: dict[eq.Version, int] = {}

    def use(v: eq.Version) -> None:
        count[v] = count.get(v, 0) + 1

    def walk(items: tuple[eq.Stmt, ...]) -> None:
        for s in items:
            for node in topological(statement_expressions(s, nested=False)):
                if isinstance(node, eq.Read):
                    use(node.version)
            match s:
                case eq.Write(before=before):
                    use(before)
                case eq.Fold(arrays=arrays, body=body):
                    for a in arrays:
                        use(a.outside)
                        use(a.exit)
                    walk(body)

    walk(stmts)
    return count


def _overwrites(later: eq.Write, earlier: eq.Write) -> bool:
    return (
        not later.accumulate
        and later.where is None
        and (
            later.covers
            or (later.subscripts == earlier.subscripts and later.axes == earlier.axes and later.view == earlier.view)
        )
    )


# --- folds -------------------------------------------------------------------------------------


class _Seen:
    """The folds, and the names that they carry and put out, on which something depends."""

    def __init__(self, stmts: Stmts, returned: frozenset[eq.Version], returns: tuple[eq.Expr, ...]):
        self.folds = {s.name: s for s in _folds(stmts)}
        self.versions = returned | readers(stmts).keys()
        self.names: set[tuple[str, str]] = set()
        self.live: set[str] = set()
        self.reached: set[eq.Expr] = set()
        self.waiting: list[eq.Expr] = list(returns)
        for s in stmts:
            self._statement(s)
        while self.waiting:
            self._expression(self.waiting.pop())

    def kept(self, stmts: Stmts) -> Stmts:
        """The statements, folds with what is seen of them."""
        out: list[eq.Stmt] = []
        for s in stmts:
            if isinstance(s, eq.Fold):
                if s.name not in self.live:
                    continue
                scalars = tuple(c for c in s.scalars if (s.name, c.name) in self.names)
                outputs = tuple(o for o in s.outputs if (s.name, o.name) in self.names)
                s = replace(s, scalars=scalars, outputs=outputs, body=self.kept(s.body))
            out.append(s)
        return tuple(out)

    def _statement(self, s: eq.Stmt) -> None:
        if not isinstance(s, eq.Fold):
            self.waiting += statement_expressions(s)
        elif any(a.result in self.versions for a in s.arrays) or any(isinstance(t, eq.Check) for t in _nested(s)):
            self._fold(s)

    def _fold(self, s: eq.Fold) -> None:
        if s.name in self.live:
            return
        self.live.add(s.name)
        self.waiting += statement_expressions(replace(s, scalars=(), outputs=()), nested=False)
        for t in s.body:
            self._statement(t)

    def _expression(self, root: eq.Expr) -> None:
        if root in self.reached:
            return
        for node in topological((root,)):
            if node in self.reached:
                continue
            self.reached.add(node)
            if isinstance(node, eq.CarryIn | eq.FoldResult) and (key := (node.fold, node.name)) not in self.names:
                self.names.add(key)
                fold = self.folds.get(node.fold)
                if fold is not None:
                    self._fold(fold)
                    self.waiting += [e for c in fold.scalars if c.name == node.name for e in (c.init, c.update)]
                    self.waiting += [o.value for o in fold.outputs if o.name == node.name]
                    axes = [c.axes for c in fold.scalars if c.name == node.name]
                    axes += [o.axes for o in fold.outputs if o.name == node.name]
                    self.waiting += [e for own in axes for a in own for e in (a.lo, a.hi)]


def _nested(s: eq.Fold) -> Iterator[eq.Stmt]:
    for t in s.body:
        yield t
        if isinstance(t, eq.Fold):
            yield from _nested(t)


def _folds(stmts: Stmts) -> Iterator[eq.Fold]:
    for s in stmts:
        if isinstance(s, eq.Fold):
            yield s
            yield from _folds(s.body)


__all__ = ["readers", "without_dead"]
