"""How wide the rims of zeros around an array are that loads beyond it need, and which loads share one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kraise.emit import tree
from kraise.emit.text.linear import Linear, linear
from kraise.ir import equations as eq

Part = tuple[eq.Expr | None, ...] | tuple[eq.Expr, eq.Expr | None, eq.Expr | None, str]
_FEW = 4
Key = tuple[eq.Version, tuple[eq.Expr, ...], tuple[Part, ...]]


def key_of(node: eq.Read) -> Key:
    """Loads of one key can share a padded array: all of it, or one of its planes."""
    parts = zip(node.subscripts, node.outside, strict=True)
    return (
        node.version,
        node.view,
        tuple((_plane(s),) if o is None else (o.limit, o.fill, o.behind, o.edge) for s, o in parts),
    )


def _plane(subscript: eq.Expr) -> eq.Expr | None:
    return subscript if isinstance(subscript, eq.Const) else None


def whole(node: eq.Read) -> bool:
    """Whether a load's padded array is the same at all of its places: padded along each axis, or a plane by number."""
    return all(o is not None or _plane(s) for s, o in zip(node.subscripts, node.outside, strict=True))


class Widths:
    """For each padded array of a kernel how wide its rims are, and whether several loads share it."""

    def __init__(self, body: Iterable[eq.Stmt]):
        self.loads: dict[Key, dict[eq.Read, None]] = {}
        self.valued: set[eq.Read] = set()  # not only compared: a derivative may pass through it
        for stmt in tree.statements(tuple(body)):
            roots = tree.statement_roots(stmt)
            self.valued.update(r for r in roots if isinstance(r, eq.Read))
            for n in tree.walk(*roots):
                if isinstance(n, eq.Read) and n.outside:
                    self.loads.setdefault(key_of(n), {})[n] = None
                if n.type.kind != "bool":
                    self.valued.update(c for c in tree.children(n) if isinstance(c, eq.Read) and not c.type.is_integer)

    def of(self, node: eq.Read) -> tuple[tuple[Linear, Linear], ...]:
        """``(before, after)`` of each axis."""
        parts = [n.outside for n in self.loads[key_of(node)]] if self.shared(node) else [node.outside]
        return tuple(
            (_widest([o.before for o in column if o]), _widest([o.after for o in column if o]))
            for column in zip(*parts, strict=True)
        )

    def shared(self, node: eq.Read) -> bool:
        """Whether several loads use the padded array, which then is a variable."""
        group = self.loads.get(key_of(node), {})
        if len(group) < 2 or not whole(node) or self._apart(group):
            return False
        return all(
            len({w for n in group for w in (ends(n.outside[at]),)}) == 1 or all(_number(n.outside[at]) for n in group)
            for at in range(len(node.outside))
        )

    def _apart(self, group: Mapping[eq.Read, None]) -> bool:
        """Whether each of a few loads beside each element had better pad for itself: nothing is laid down in memory
        then (measured: 0.17 for 0.53). Where a derivative passes, each pad would be one more pass over it."""
        parts = [o for n in group for o in n.outside if o is not None]
        near = all(isinstance(w, eq.Const) and w.value in (0, 1) for o in parts for w in ends(o))
        return near and len(group) <= _FEW and not any(o.edge for o in parts) and not self.valued & group.keys()


def ends(part: eq.Outside | None) -> tuple[eq.Expr, ...]:
    """The widths of the two rims."""
    return () if part is None else (part.before, part.after)


def _number(part: eq.Outside | None) -> bool:
    return all(isinstance(w, eq.Const) for w in ends(part))


def _widest(widths: list[eq.Expr]) -> Linear:
    forms = [linear(w) for w in widths]
    return max(forms, key=lambda w: w.constant) if forms else Linear()
